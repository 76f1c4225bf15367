use super::ValueRecipe;
use ncirrus_layout::{Error, Fragment, FragmentAbsence, FragmentPacking, FragmentRules, FragmentUnits};
use ncirrus_model::{Attribute, Attributes, Values};
use proptest::prelude::*;
use std::sync::Arc;

/// An aggregated variable: attributes, missing value, and how it treats its fragments.
struct AggregatedFixture {
    attributes: Attributes,
    missing: Values,
    packing: FragmentPacking,
    is_strict: bool,
    units: Option<FragmentUnits>,
}

fn attributes(list: &[(&str, Values)]) -> Attributes {
    let mut attributes = Attributes::new();
    list.iter().for_each(|(name, values)| attributes.put(Attribute::atomic(*name, values.clone())));
    attributes
}

fn text(text: &str) -> Values {
    Values::Char(text.as_bytes().to_vec())
}

fn whole(list: &[(&str, Values)], missing: Values) -> AggregatedFixture {
    let packing = FragmentPacking::Unpack;
    AggregatedFixture { attributes: attributes(list), missing, packing, is_strict: true, units: None }
}

impl AggregatedFixture {
    fn recipe(&self, stored: &Values, list: &[(&str, Values)]) -> Result<ValueRecipe, Error> {
        let rules = FragmentRules {
            attributes: self.attributes.clone(),
            packing: self.packing,
            absent: FragmentAbsence::Error,
            is_strict: self.is_strict,
        };
        let fragment = Fragment {
            index: vec![0],
            names: Vec::new(),
            variables: Vec::new(),
            shape: None,
            axes: None,
            is_paired: false,
            units: self.units.clone(),
            rules: Arc::new(rules),
        };
        let atomic = |values: &Values| values.atomic().ok_or_else(|| Error::internal("no atomic type"));
        ValueRecipe::new(
            (atomic(stored)?, &attributes(list)),
            &fragment,
            (atomic(&self.missing)?, &self.missing),
        )
    }

    /// The result for stored values, given the attributes of the fragment's variable.
    fn takes(&self, stored: Values, list: &[(&str, Values)]) -> Result<Values, String> {
        let recipe = self.recipe(&stored, list).map_err(|error| error.to_string())?;
        let ty = self.missing.atomic().ok_or("no atomic type")?;
        recipe.apply(stored, ty).map_err(|error| error.to_string())
    }
}

const FILL: f32 = 9.969_21e36;

#[test]
fn what_a_fragment_calls_missing_becomes_the_missing_value() {
    let whole = whole(&[], Values::Float(vec![-1.0]));
    let list = [
        ("_FillValue", Values::Float(vec![5.0])),
        ("missing_value", Values::Double(vec![6.0, 7.0])),
        ("valid_range", Values::Float(vec![0.0, 10.0])),
    ];
    let stored = Values::Float(vec![1.0, 5.0, 6.0, 7.0, -3.0, 11.0, 10.0]);
    assert_eq!(whole.takes(stored, &list), Ok(Values::Float(vec![1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 10.0])));
}

#[test]
fn a_valid_range_may_be_one_of_unpacked_values() {
    let whole = whole(&[], Values::Double(vec![-1.0]));
    let float = |value: f32| Values::Float(vec![value]);
    let stored = || Values::Short(vec![-9000, 0, 9000, 9001]);
    let unpacked = |missing: &[usize]| {
        let numbers = [-9000.0, 0.0, 9000.0, 9001.0].map(|number| number * f64::from(0.01f32));
        Ok(Values::Double((0..4).map(|at| if missing.contains(&at) { -1.0 } else { numbers[at] }).collect()))
    };
    let packed = ("scale_factor", float(0.01));
    // Latitudes as the ARM programme writes them.
    let list = [packed.clone(), ("valid_min", float(-90.0)), ("valid_max", float(90.0))];
    assert_eq!(whole.takes(stored(), &list), unpacked(&[3]));
    let list = [packed.clone(), ("valid_range", Values::Double(vec![-89.0, 90.0]))];
    assert_eq!(whole.takes(stored(), &list), unpacked(&[0, 3]));
    // Limits of the stored type, or of a wider integer that is not the packing's type, apply to stored values.
    let list = [packed.clone(), ("valid_max", Values::Short(vec![100]))];
    assert_eq!(whole.takes(stored(), &list), unpacked(&[2, 3]));
    let list = [packed, ("valid_max", Values::Int(vec![9000]))];
    assert_eq!(whole.takes(stored(), &list), unpacked(&[3]));
    // Without packing there is nothing to unpack.
    let plain = whole.takes(stored(), &[("valid_max", float(9000.0))]);
    assert_eq!(plain, Ok(Values::Double(vec![-9000.0, 0.0, 9000.0, -1.0])));
    // Packed floats with limits of the packing's type.
    let list = [("scale_factor", Values::Double(vec![10.0])), ("valid_max", Values::Double(vec![15.0]))];
    assert_eq!(whole.takes(float(1.5), &list), Ok(Values::Double(vec![15.0])));
    assert_eq!(whole.takes(float(2.0), &list), Ok(Values::Double(vec![-1.0])));
}

#[test]
fn a_limit_in_double_is_that_of_the_float_that_stands_for_it() {
    let whole = whole(&[], Values::Float(vec![-1.0]));
    let list = [("valid_max", Values::Double(vec![0.1]))];
    assert_eq!(whole.takes(Values::Float(vec![0.1, 0.100_001]), &list), Ok(Values::Float(vec![0.1, -1.0])));
}

#[test]
fn the_fill_value_of_the_type_is_missing_but_not_of_bytes() {
    let whole = whole(&[], Values::Short(vec![-1]));
    assert_eq!(whole.takes(Values::Float(vec![FILL, 2.0]), &[]), Ok(Values::Short(vec![-1, 2])));
    assert_eq!(whole.takes(Values::Byte(vec![-127, 2]), &[]), Ok(Values::Short(vec![-127, 2])));
    let own = [("_FillValue", Values::Float(vec![0.0]))];
    let kept = whole.takes(Values::Float(vec![FILL, 0.0]), &own);
    assert!(kept.is_err_and(|error| error.contains("cannot be represented in type short")));
}

#[test]
fn nan_is_missing_where_it_is_the_fill_value() {
    let whole = whole(&[], Values::Float(vec![-1.0]));
    let nan = [("_FillValue", Values::Float(vec![f32::NAN]))];
    let stored = Values::Float(vec![f32::NAN, 2.0]);
    assert_eq!(whole.takes(stored.clone(), &nan), Ok(Values::Float(vec![-1.0, 2.0])));
    let taken = whole.takes(stored, &[]);
    assert!(taken.is_ok_and(|taken| taken.number(0).is_some_and(f64::is_nan)));
}

#[test]
fn unsigned_values_are_taken_for_what_they_are() {
    let whole = whole(&[("_Unsigned", text("true"))], Values::Byte(vec![-1]));
    let unsigned = [("_Unsigned", text("true")), ("valid_max", Values::Byte(vec![-56]))];
    assert_eq!(whole.takes(Values::UByte(vec![200, 1]), &[]), Ok(Values::Byte(vec![-56, 1])));
    assert_eq!(whole.takes(Values::Byte(vec![-56, 1, -1]), &unsigned), Ok(Values::Byte(vec![-56, 1, -1])));
    let wide = self::whole(&[], Values::Int(vec![-1]));
    assert_eq!(wide.takes(Values::Byte(vec![-56, 1, -1]), &unsigned), Ok(Values::Int(vec![200, 1, -1])));
}

#[test]
fn packed_values_are_unpacked_by_their_own_attributes() {
    let packed = [
        ("scale_factor", Values::Double(vec![0.5])),
        ("add_offset", Values::Double(vec![100.0])),
        ("_FillValue", Values::Short(vec![9])),
    ];
    let whole = whole(&[], Values::Double(vec![-1.0]));
    assert_eq!(whole.takes(Values::Short(vec![1, 9]), &packed), Ok(Values::Double(vec![100.5, -1.0])));
}

#[test]
fn the_same_packing_is_kept_where_the_convention_says_so() {
    let packed = [("scale_factor", Values::Double(vec![0.5])), ("units", text("km"))];
    let mut whole = whole(&packed, Values::Short(vec![-1]));
    whole.packing = FragmentPacking::Same;
    assert_eq!(whole.takes(Values::Short(vec![7]), &packed), Ok(Values::Short(vec![7])));
    let other = [("scale_factor", Values::Double(vec![2.0]))];
    assert_eq!(whole.takes(Values::Short(vec![7]), &other), Ok(Values::Short(vec![14])));
    let metres = [("scale_factor", Values::Double(vec![0.5])), ("units", text("m"))];
    assert_eq!(whole.takes(Values::Short(vec![7000]), &metres), Ok(Values::Short(vec![7])));
}

#[test]
fn units_are_brought_to_those_of_the_aggregated_variable() {
    let mut whole = whole(&[("units", text("K"))], Values::Float(vec![-1.0]));
    let celsius = [("units", text("degC"))];
    assert_eq!(whole.takes(Values::Float(vec![0.0]), &celsius), Ok(Values::Float(vec![273.15])));
    assert_eq!(whole.takes(Values::Float(vec![1.0]), &[]), Ok(Values::Float(vec![1.0])));
    let wrong = whole.takes(Values::Float(vec![0.0]), &[("units", text("kg"))]);
    assert!(wrong.is_err_and(|error| error.contains("units \"kg\" cannot be converted to \"K\"")));
    whole.units = Some(FragmentUnits { units: Some("mK".into()), calendar: None });
    assert_eq!(whole.takes(Values::Float(vec![3000.0]), &celsius), Ok(Values::Float(vec![3.0])));
}

#[test]
fn fractions_become_the_nearest_integer_and_what_has_no_place_is_missing_or_an_error() {
    let mut whole = whole(&[], Values::Byte(vec![-1]));
    let stored = Values::Double(vec![1.5, 2.5, -1.6, 127.4]);
    assert_eq!(whole.takes(stored, &[]), Ok(Values::Byte(vec![2, 2, -2, 127])));
    let outside = Values::Double(vec![1.0, 127.6, f64::NAN]);
    let error = whole.takes(outside.clone(), &[]);
    assert_eq!(error, Err("the value 127.6 cannot be represented in type byte".to_owned()));
    whole.is_strict = false;
    assert_eq!(whole.takes(outside, &[]), Ok(Values::Byte(vec![1, -1, -1])));
}

#[test]
fn values_that_need_nothing_are_taken_as_they_are() {
    let whole = whole(&[("units", text("K"))], Values::Float(vec![-1.0]));
    let plain =
        |list: &[(&str, Values)]| whole.recipe(&Values::Float(Vec::new()), list).map(|it| it.is_plain());
    let fill = ("_FillValue", Values::Float(vec![-1.0]));
    assert!(plain(&[fill.clone(), ("units", text("K"))]).is_ok_and(|plain| plain));
    assert!(plain(&[]).is_ok_and(|plain| !plain), "the type's own fill value is another");
    assert!(plain(&[fill.clone(), ("units", text("degC"))]).is_ok_and(|plain| !plain));
    assert!(plain(&[fill, ("valid_min", Values::Float(vec![0.0]))]).is_ok_and(|plain| !plain));
}

proptest! {
    /// 64-bit integers are preserved exactly.
    #[test]
    fn integers_are_kept_exactly(numbers in proptest::collection::vec(any::<i64>(), 0..20), fill: i64) {
        let whole = whole(&[], Values::Int64(vec![3]));
        let taken = whole.takes(Values::Int64(numbers.clone()), &[("_FillValue", Values::Int64(vec![fill]))]);
        let due = numbers.into_iter().map(|number| if number == fill { 3 } else { number }).collect();
        prop_assert_eq!(taken, Ok(Values::Int64(due)));
    }
}
