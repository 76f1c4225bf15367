// Colour maps as 33 colours each, between which is interpolated. Viridis, cividis and magma are those of matplotlib (CC0);
// turbo is Google's (Apache-2.0); the others are of ColorBrewer by Cynthia Brewer (Apache-2.0).
const MAPS = {
  viridis: "440154470d6048186a482374472d7b4537814240863e49893b528b375b8d33638d2f6b8e2c728e297a8e26828e23898e21918c1f988b1fa08822a78528ae8032b67a3fbc734ec36b5ec96270cf5784d44b98d83eaddc30c2df23d8e219ece51bfde725",
  cividis: "00224e00285b002e6a0533711a386f273e6e32436d3b496c434e6c4b546c535a6d5a5f6e61656f686a716f70737676767d7c788482798c8878938e789b9476a39a74aba072b4a76fbcae6cc4b468cdbb63d5c25edec958e7d150f0d846f9e03afee838",
  magma: "0000040303120a0822130d341d114729115a36106b440f7651127c5d177f6a1c81762181832681902a819c2e7faa337db73779c43c75d0416fdc4869e75263ef5d5ef56b5cf9795dfc8961fd9869fea772feb67cfec488fed395fde2a3fcf0b2fcfdbf",
  turbo: "30123b392a734040a24456c7466be34680f64294ff37a8fa28bceb1ccdd818ddc21fe9af32f2984ef97d6dfe628bff4ba4fc3cb9f635cdec34dfdf37eecf3af8be39fdac34fe962bfb7e21f46617eb500edf3f08d02f05be2102a91601920b017a0403",
  water: "ffffd9fafdcff6fbc5f1fabbedf8b1e3f4b2daf0b3d0edb3c6e9b4b4e2b6a2dbb890d4b97ecdbb6fc7bd5fc1c050bbc240b5c437acc32ea3c2259ac11d90c01e83ba2076b3216aad225da82352a324489d243d982433921d2e831628740e2265081d58",
  heat: "ffffccfffac1fff6b6fff1abffeda0ffe895fee38bfede80fed976fecf6bfec561febb56feb24cfea848fd9f44fd9640fd8c3cfd7c37fc6c33fc5d2efc4d2af54026ef3323e9261fe2191cd9131fcf0c21c50624bb0026ac00269d00268d0026800026",
  balance: "0530610e41791752901f63a82a71b23480b93f8ec0529dc86bacd184bcd99bc9e0aed3e6c2ddecd4e6f1e0ecf3ecf2f5f7f6f6f9eee7fbe5d8fddcc9fbccb4f8bb9ef5aa89ee9677e48066db6b55d05548c53e3dba2832ab162a930e267c072267001f",
  earth: "543005663a07774508894f0a995d13a96c1eb97b29c58e3dcfa256d9b76fe2c787e9d39df1dfb3f6e9c7f6edd7f5f1e6f4f5f5e6f1f0d7eeebc9eae6b4e2db9dd9d087d0c570c1b658b0a7419f972d8f871d80780c716901625901554b00483d003c30",
  grey: "000000ffffff",
};

export const NAMES = Object.keys(MAPS);
/** Maps with a neutral middle, for ranges on both sides of zero. */
export const DIVERGING = ["balance", "earth"];

/** 256 colours as pixels of a canvas (little-endian RGBA). */
export function table(name, isReversed) {
  const text = MAPS[name] ?? MAPS.viridis;
  const stops = text.length / 6;
  const channel = (stop, at) => parseInt(text.slice(stop * 6 + at * 2, stop * 6 + at * 2 + 2), 16);
  const colours = new Uint32Array(256);
  for (let index = 0; index < 256; index += 1) {
    const place = ((isReversed ? 255 - index : index) / 255) * (stops - 1);
    const stop = Math.min(stops - 2, Math.floor(place));
    const part = place - stop;
    const [red, green, blue] = [0, 1, 2].map((at) => Math.round(channel(stop, at) * (1 - part) + channel(stop + 1, at) * part));
    colours[index] = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  }
  return colours;
}

/** Which colours numbers have: `low`, `high`, whether the scale is logarithmic, and the 256 colours. */
export function scale({ low, high, isLog, colours, isReversed }) {
  const lut = table(colours, isReversed);
  const useLog = isLog && high > 0;
  const from = useLog ? Math.log(low > 0 ? low : high / 1e6) : low;
  const factor = 255.999 / ((useLog ? Math.log(high) : high) - from || 1);
  return (value) => {
    if (!(value - value === 0)) return value === Infinity ? lut[255] : value === -Infinity ? lut[0] : 0;
    if (useLog && value <= 0) return lut[0];
    const at = ((useLog ? Math.log(value) : value) - from) * factor;
    return lut[at <= 0 ? 0 : at >= 255 ? 255 : at | 0];
  };
}

/** Draws the colours from left to right. */
export function drawBar(canvas, name, isReversed) {
  canvas.width = 256;
  canvas.height = 1;
  const image = new ImageData(256, 1);
  new Uint32Array(image.data.buffer).set(table(name, isReversed));
  canvas.getContext("2d").putImageData(image, 0, 0);
}

/** The range between two percentiles, and whether it is on both sides of zero. */
export function robustRange(arrays) {
  const values = [];
  const total = arrays.reduce((sum, array) => sum + array.length, 0);
  const step = Math.max(1, Math.floor(total / 50_000));
  for (const array of arrays) {
    for (let at = 0; at < array.length; at += step) if (Number.isFinite(array[at])) values.push(array[at]);
  }
  if (!values.length) return null;
  values.sort((a, b) => a - b);
  const at = (part) => values[Math.round(part * (values.length - 1))];
  let [low, high] = [at(0.01), at(0.99)];
  if (low === high) [low, high] = [values[0], values[values.length - 1]];
  if (low === high) [low, high] = low === 0 ? [0, 1] : [low - Math.abs(low) * 0.05, high + Math.abs(high) * 0.05];
  const isAcross = low < 0 && high > 0 && Math.min(-low, high) > 0.2 * Math.max(-low, high);
  if (isAcross) [low, high] = [-Math.max(-low, high), Math.max(-low, high)];
  return { low, high, isAcross };
}
