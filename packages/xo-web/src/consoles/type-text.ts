import { toKeyStrokes } from "./key-strokes.js";

/** As noVNC's RFB.sendKey. */
export type SendKey = (
  keysym: number,
  code: string | null,
  down: boolean,
) => void;

const SHIFT = [0xffe1, "ShiftLeft"] as const;

/** Guests that are busy drop keys that come faster. */
const PAUSE_MS = 8;

export interface TypeTextOptions {
  readonly sendKey: SendKey;
  readonly pause?: (ms: number) => Promise<void>;
  /** Aborted: the rest is not typed. */
  readonly signal?: AbortSignal;
  /** Of how many keys, how many have been pressed. */
  readonly onProgress?: (done: number, all: number) => void;
}

const sleep = (ms: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Presses the keys of a text, one after the other. Resolves with true when all of it has been typed. */
export async function typeText(
  text: string,
  { sendKey, pause = sleep, signal, onProgress }: TypeTextOptions,
): Promise<boolean> {
  const strokes = toKeyStrokes(text);
  for (const [index, { keysym, code, shift }] of strokes.entries()) {
    if (signal?.aborted === true) return false;
    if (shift) sendKey(...SHIFT, true);
    sendKey(keysym, code, true);
    sendKey(keysym, code, false);
    if (shift) sendKey(...SHIFT, false);
    onProgress?.(index + 1, strokes.length);
    await pause(PAUSE_MS);
  }
  return true;
}
