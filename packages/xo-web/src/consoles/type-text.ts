import { toKeyStrokes } from "./key-strokes.js";

/** Signature of noVNC's RFB.sendKey. */
type SendKey = (keysym: number, code: string | null, down: boolean) => void;

const SHIFT = [0xffe1, "ShiftLeft"] as const;

/** Delay in ms between keys: busy guests drop faster ones. */
const PAUSE_MS = 8;

interface TypeTextOptions {
  readonly sendKey: SendKey;
  readonly pause?: (ms: number) => Promise<void>;
  /** On abort the remaining text is not typed. */
  readonly signal?: AbortSignal;
  /** Number of pressed keys and of all keys. */
  readonly onProgress?: (done: number, all: number) => void;
}

const sleep = (ms: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Types a text key by key. Resolves with true when it is complete. */
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
