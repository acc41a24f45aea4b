// A moving picture from pictures: a WebP file whose frames hold only what changed. The browser does the drawing and the
// packing of single pictures; this module joins them.

const bytes24 = (n) => [n & 255, (n >> 8) & 255, (n >> 16) & 255];

function chunk(name, body) {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(body.length);
  return Buffer.concat([Buffer.from(name, "latin1"), size, body, Buffer.alloc(body.length % 2)]);
}

// The parts of a single picture that a frame is made of.
function parts(file) {
  const found = [];
  for (let at = 12; at + 8 <= file.length; ) {
    const name = file.toString("latin1", at, at + 4);
    const size = file.readUInt32LE(at + 4);
    if (["ALPH", "VP8 ", "VP8L"].includes(name)) found.push(chunk(name, file.subarray(at + 8, at + 8 + size)));
    at += 8 + size + (size % 2);
  }
  return Buffer.concat(found);
}

// `frames` have a file, a place (even numbers), a size and how long they are shown in milliseconds.
export function moving(width, height, frames) {
  const head = chunk("VP8X", Buffer.from([0b00010010, 0, 0, 0, ...bytes24(width - 1), ...bytes24(height - 1)]));
  const endless = chunk("ANIM", Buffer.from([255, 255, 255, 255, 0, 0]));
  const shown = frames.map((f) => chunk("ANMF", Buffer.concat([Buffer.from([...bytes24(f.x / 2), ...bytes24(f.y / 2), ...bytes24(f.width - 1), ...bytes24(f.height - 1), ...bytes24(f.time), 0]), parts(f.file)])));
  const body = Buffer.concat([Buffer.from("WEBP"), head, endless, ...shown]);
  return chunk("RIFF", body);
}

// Runs in a page: what of a picture differs from the one before, as a picture of its own. `window.last` is what is shown.
export async function change(url, quality) {
  const image = await createImageBitmap(await (await fetch(url)).blob());
  const { width, height } = image;
  const draw = (w, h) => Object.assign(document.createElement("canvas"), { width: w, height: h });
  const now = draw(width, height);
  const cx = now.getContext("2d", { willReadFrequently: true });
  cx.drawImage(image, 0, 0);
  const fresh = cx.getImageData(0, 0, width, height);
  const old = window.last;
  const box = { left: width, top: height, right: -1, bottom: -1 };
  const differs = (x, y) => {
    const i = 4 * (y * width + x);
    return !old || [0, 1, 2].some((c) => Math.abs(fresh.data[i + c] - old.data[i + c]) > 2);
  };
  // Whole squares, so that the previous frame is not visible at their edges.
  for (let top = 0; top < height; top += 8) {
    for (let left = 0; left < width; left += 8) {
      const square = [];
      for (let y = top; y < Math.min(height, top + 8); y++) for (let x = left; x < Math.min(width, left + 8); x++) square.push([x, y]);
      if (!square.some(([x, y]) => differs(x, y))) square.forEach(([x, y]) => (fresh.data[4 * (y * width + x) + 3] = 0));
      else Object.assign(box, { left: Math.min(box.left, left), top: Math.min(box.top, top), right: Math.max(box.right, Math.min(width, left + 8) - 1), bottom: Math.max(box.bottom, Math.min(height, top + 8) - 1) });
    }
  }
  if (box.right < 0) return null;
  const place = { x: box.left & ~1, y: box.top & ~1 };
  const size = { width: box.right - place.x + 1, height: box.bottom - place.y + 1 };
  const cut = draw(size.width, size.height);
  cut.getContext("2d").putImageData(fresh, -place.x, -place.y);
  const blob = await new Promise((done) => cut.toBlob(done, "image/webp", quality));
  window.last = cx.getImageData(0, 0, width, height);
  const data = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (const byte of data) text += String.fromCharCode(byte);
  return { ...place, ...size, file: btoa(text), whole: { width, height } };
}
