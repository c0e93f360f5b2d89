/**
 * The messages of RFB in this bench: keys, requests of the picture, and the picture. Both ends omit
 * the handshake.
 */

/** KeyEvent. */
export const KEY_EVENT_BYTES = 8;
/** FramebufferUpdateRequest. */
export const REQUEST_BYTES = 10;

/** RFB's KeyEvent, key pressed (RFC 6143, 7.5.4). @param symbol X11 keysym */
export function keyEvent(symbol: number): Buffer {
  const bytes = Buffer.alloc(KEY_EVENT_BYTES);
  bytes[0] = 4;
  bytes[1] = 1;
  bytes.writeUInt32BE(symbol, 4);
  return bytes;
}

/** Whether a KeyEvent reports a pressed key, not a released one. */
export function isKeyDown(message: Buffer): boolean {
  return message[1] === 1;
}

/** Requests the complete screen, changed or not. */
export function pictureRequest(): Buffer {
  const bytes = Buffer.alloc(REQUEST_BYTES);
  bytes[0] = 3;
  return bytes;
}

/** A letter that appears: 16 x 16 pixels. */
export const KEY_ANSWER = picture(16, 16);
/** 1,280 x 800 pixels, 4 MiB. */
export const WHOLE_PICTURE = picture(1280, 800);

/** FramebufferUpdate with one raw rectangle of 32 bits a pixel. */
function picture(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(4 + 12 + 4 * width * height, 0x5a);
  bytes.fill(0, 0, 16);
  bytes.writeUInt16BE(1, 2);
  bytes.writeUInt16BE(width, 8);
  bytes.writeUInt16BE(height, 10);
  return bytes;
}
