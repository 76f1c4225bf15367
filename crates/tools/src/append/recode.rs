//! Values of a source as the target stores them: in its units, packing and type, exactly or not at all.
use ncirrus::cf::{self, CfDecoding, NumberConversion};
use ncirrus::{Atomic, Attribute, Attributes, Values};
use ncirrus_model::ExactNumber;

/// Attributes that say what stored numbers mean, besides their units.
const MEANING: [&str; 5] = ["scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned"];

/// How values of a variable of a source become those of the target.
pub(super) enum Recoding {
    /// They are the same.
    Same,
    /// Through what they mean.
    Through(Box<Meaning>),
}

/// What stored values mean on both sides.
pub(super) struct Meaning {
    from: CfDecoding,
    to: CfDecoding,
    units: Option<(NumberConversion, NumberConversion)>,
}

impl Recoding {
    /// The recoding between variables of these types and attributes; those of times include the units of the variable
    /// whose bounds they are.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn new(from: (Atomic, &Attributes), to: (Atomic, &Attributes)) -> Result<Self, String> {
        let units = conversions(from.1, to.1)?;
        let is_same = |name: &str| match (from.1.find(name), to.1.find(name)) {
            (Some(one), Some(other)) => one.values.is_identical(&other.values),
            (one, other) => one.is_none() && other.is_none(),
        };
        if from.0 == to.0 && units.is_none() && MEANING.iter().all(|name| is_same(name)) {
            return Ok(Self::Same);
        }
        if !from.0.is_numeric() || !to.0.is_numeric() {
            return if from.0 == to.0 {
                Ok(Self::Same)
            } else {
                Err(format!("it is of type {}, the target's of type {}", from.0.name(), to.0.name()))
            };
        }
        let decoding = |(ty, attributes): (Atomic, &Attributes)| {
            CfDecoding::new(ty, attributes).map_err(|error| error.message().to_owned())
        };
        Ok(Self::Through(Box::new(Meaning { from: decoding(from)?, to: decoding(to)?, units })))
    }

    /// The values as the target stores them.
    ///
    /// # Errors
    /// The first value that the target cannot store exactly.
    pub(super) fn apply(&self, values: Values) -> Result<Values, String> {
        match self {
            Self::Same => Ok(values),
            Self::Through(meaning) => meaning.apply(values),
        }
    }

    pub(super) fn is_same(&self) -> bool {
        matches!(self, Self::Same)
    }

    /// Whether a difference in this attribute is accounted for.
    pub(super) fn covers(name: &str) -> bool {
        MEANING.contains(&name) || matches!(name, "units" | "calendar")
    }
}

impl Meaning {
    fn apply(&self, values: Values) -> Result<Values, String> {
        if self.is_exact() {
            return self.apply_exactly(values);
        }
        if wide(&values) {
            return self.apply_wide(values);
        }
        let decoded = decoded(&self.from, values)?;
        let given = decoded.numbers();
        let encoded = self.encode(&given)?;
        let back = self::decoded(&self.to, encoded.clone())?;
        let numbers = back.numbers();
        for (at, (given, number)) in given.iter().zip(&numbers).enumerate() {
            let is_missing = decoded.missing.get(at).copied().unwrap_or_default();
            if is_missing != back.missing.get(at).copied().unwrap_or_default() {
                let what = if is_missing { "a missing value" } else { "it" };
                return Err(format!("{given} cannot be stored: the target has no way to store {what}"));
            }
            if !is_missing && !self.is_near(*given, *number) {
                let came = self.units.as_ref().map_or(*number, |(_, back)| back.reals().apply(*number));
                return Err(format!(
                    "{given} cannot be stored exactly as {} with the target's packing and units: it would be read as {came}",
                    self.to.stored_type().name()
                ));
            }
        }
        Ok(encoded)
    }

    /// Whether integers on one side have 64 bits, which doubles do not hold, and can be converted without them.
    fn is_exact(&self) -> bool {
        let is_wide = |side: &CfDecoding| is_wide(side.stored_type());
        let units = self.units.as_ref().is_none_or(|(there, back)| there.is_exact() && back.is_exact());
        let is_taken = self.to.is_of_integers() || self.to.packing().is_none();
        self.from.is_of_integers() && units && is_taken && (is_wide(&self.from) || is_wide(&self.to))
    }

    /// Integers as the target stores them, without doubles in between.
    fn apply_exactly(&self, values: Values) -> Result<Values, String> {
        let decoded = decoded(&self.from, values)?;
        let mut numbers = ExactNumber::all(&decoded.values).into_iter().zip(&decoded.missing);
        if self.to.is_of_integers() {
            let numbers = numbers.map(
                |(number, missing)| {
                    if *missing { Ok(None) } else { self.whole(number).map(Some) }
                },
            );
            let numbers = numbers.collect::<Result<Vec<_>, String>>()?;
            return self.to.encode_integers(&numbers).map_err(|error| error.message().to_owned());
        }
        let reals: Vec<f64> = numbers
            .clone()
            .map(|(number, missing)| if *missing { f64::NAN } else { self.converted(number).to_f64() })
            .collect();
        let encoded = self.to.encode(&reals).map_err(|error| error.message().to_owned())?;
        let back = self::decoded(&self.to, encoded.clone())?;
        let stored = ExactNumber::all(&encoded).into_iter().zip(&back.missing);
        let lost = stored.zip(numbers.by_ref()).find(|((stored, gone), (number, missing))| {
            gone != missing || (!**missing && !self.comes_back(*stored, *number))
        });
        match lost {
            None => Ok(encoded),
            Some((_, (_, true))) => Err("the target has no way to store a missing value".to_owned()),
            Some((_, (number, false))) => Err(self.inexact(number)),
        }
    }

    fn converted(&self, number: ExactNumber) -> ExactNumber {
        self.units.as_ref().map_or(number, |(there, _)| there.apply(number))
    }

    /// An integer in the target's units.
    fn whole(&self, number: ExactNumber) -> Result<i128, String> {
        match self.converted(number) {
            ExactNumber::Integer(number) => Ok(number),
            ExactNumber::Real(_) => Err(self.inexact(number)),
        }
    }

    /// Whether a stored number is that integer in the target's units.
    fn comes_back(&self, stored: ExactNumber, number: ExactNumber) -> bool {
        match &self.units {
            None => stored == number,
            Some((_, back)) => back.nearest_integer(stored).map(ExactNumber::Integer) == Some(number),
        }
    }

    fn inexact(&self, number: ExactNumber) -> String {
        let ty = self.to.stored_type().name();
        format!("{number} cannot be stored exactly as {ty} with the target's packing and units")
    }

    /// Numbers in the source's units as the target stores them.
    fn encode(&self, numbers: &[f64]) -> Result<Values, String> {
        let encoded = match &self.units {
            Some((there, _)) if self.to.is_of_integers() && is_wide(self.to.stored_type()) => {
                let whole = |number: &f64| {
                    if number.is_nan() {
                        return Ok(None);
                    }
                    let integer = there.nearest_integer(ExactNumber::Real(*number));
                    integer.map(Some).ok_or_else(|| self.inexact(ExactNumber::Real(*number)))
                };
                self.to.encode_integers(&numbers.iter().map(whole).collect::<Result<Vec<_>, _>>()?)
            }
            Some((there, _)) => {
                self.to.encode(&numbers.iter().map(|number| there.reals().apply(*number)).collect::<Vec<_>>())
            }
            None => self.to.encode(numbers),
        };
        encoded.map_err(|error| error.message().to_owned())
    }

    /// Integers of 64 bits, which doubles do not hold: as they are, or not at all.
    fn apply_wide(&self, values: Values) -> Result<Values, String> {
        let (from, to) = (&self.from, &self.to);
        let is_plain = self.units.is_none() && from.packing().is_none() && to.packing().is_none();
        let exact = |at: usize| values.integer(at).is_some_and(|value| value.unsigned_abs() < 1 << 53);
        if (0..values.len()).all(exact) {
            #[expect(clippy::cast_precision_loss, reason = "they are below 2^53")]
            let doubles = (0..values.len()).filter_map(|at| values.integer(at)).map(|value| value as f64);
            let missing = from.mask().of(&values);
            let numbers: Vec<f64> = doubles.collect();
            if from.packing().is_none() && !missing.contains(&true) {
                let encoded = self.encode(&numbers)?;
                let came = decoded(to, encoded.clone())?.numbers();
                let bad = numbers.iter().zip(&came).find(|(given, number)| !self.is_near(**given, **number));
                return match bad {
                    Some((given, _)) => {
                        Err(format!("{given} cannot be stored exactly as {}", to.stored_type().name()))
                    }
                    None => Ok(encoded),
                };
            }
        }
        if is_plain && from.stored_type() == to.stored_type() && from.mask() == to.mask() {
            Ok(values)
        } else {
            Err("64-bit integers that a double cannot represent cannot be converted".to_owned())
        }
    }

    /// Whether a number comes back as it was given, but for the rounding of the floats that hold it.
    fn is_near(&self, given: f64, came: f64) -> bool {
        let (back, reach) = match &self.units {
            Some((_, back)) => (back.reals().apply(came), back.reals().apply(0.0).abs()),
            None => (came, 0.0),
        };
        if given == back {
            return true;
        }
        let types = [self.from.decoded_type(), self.to.decoded_type(), self.to.stored_type()];
        // The precision of times is that of doubles, whatever holds them.
        let is_single = types.contains(&Atomic::Float) && self.units.is_none();
        let offset = self.to.packing().map_or(0.0, |packing| packing.offset.abs());
        let rounding = if is_single { 3e-7 } else { 4e-15 };
        (given - back).abs() <= rounding * given.abs().max(reach).max(offset)
    }
}

fn decoded(decoding: &CfDecoding, values: Values) -> Result<cf::DecodedValues, String> {
    decoding.decode(values).map_err(|error| error.message().to_owned())
}

fn wide(values: &Values) -> bool {
    values.atomic().is_some_and(is_wide)
}

fn is_wide(ty: Atomic) -> bool {
    matches!(ty, Atomic::Int64 | Atomic::UInt64)
}

fn conversions(
    from: &Attributes,
    to: &Attributes,
) -> Result<Option<(NumberConversion, NumberConversion)>, String> {
    let text = |attributes: &Attributes, name: &str| attributes.find(name).and_then(Attribute::as_text);
    let (ours, theirs) = (text(to, "units"), text(from, "units"));
    let (our_calendar, their_calendar) = (text(to, "calendar"), text(from, "calendar"));
    if ours == theirs && our_calendar == their_calendar {
        return Ok(None);
    }
    let (Some(ours), Some(theirs)) = (&ours, &theirs) else {
        return Err(format!("units are {theirs:?}, the target's {ours:?}"));
    };
    let (ours, theirs) = ((&**ours, our_calendar.as_deref()), (&**theirs, their_calendar.as_deref()));
    let failed = |error: cf::UnitError| {
        let shown = |(units, calendar): (&str, Option<&str>)| match calendar {
            Some(calendar) => format!("{units:?} of calendar {calendar}"),
            None => format!("{units:?}"),
        };
        format!("units {} cannot be converted to {}: {}", shown(theirs), shown(ours), error.message())
    };
    let there = NumberConversion::between(theirs, ours).map_err(failed)?;
    let back = NumberConversion::between(ours, theirs).map_err(failed)?;
    Ok(there.zip(back))
}
