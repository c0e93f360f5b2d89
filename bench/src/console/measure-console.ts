import { setTimeout as pause } from "node:timers/promises";
import type { ConsoleEnd } from "./console-end.js";
import { KEY_ANSWER, WHOLE_PICTURE, keyEvent, pictureRequest } from "./wire.js";

/** Pictures requested ahead: the round trip costs no time then. */
const AHEAD = 4;

/** @returns ms from each key to the last byte of what it changed */
export async function pressKeys(
  console: ConsoleEnd,
  { keys, pauseMs }: { readonly keys: number; readonly pauseMs: number },
): Promise<number[]> {
  const delays: number[] = [];
  for (let key = 0; key < keys; key++) {
    // Not all at the same moment, as with real users.
    if (pauseMs > 0) await pause(pauseMs * (0.5 + Math.random()));
    const shown = received(console, KEY_ANSWER.length);
    const pressed = performance.now();
    console.send(keyEvent(0x61 + (key % 26)));
    await shown;
    delays.push(performance.now() - pressed);
  }
  return delays;
}

/** @returns bytes a second, over so many bytes at least */
export async function fetchPictures(
  console: ConsoleEnd,
  bytes: number,
): Promise<number> {
  const pictures = Math.ceil(bytes / WHOLE_PICTURE.length);
  const started = performance.now();
  let asked = 0;
  let got = 0;
  await new Promise<void>((resolve) => {
    const ask = () => {
      while (asked < pictures && asked - got / WHOLE_PICTURE.length < AHEAD) {
        asked++;
        console.send(pictureRequest());
      }
    };
    console.onBytes((count) => {
      got += count;
      if (got === pictures * WHOLE_PICTURE.length) resolve();
      else ask();
    });
    ask();
  });
  return (got * 1000) / (performance.now() - started);
}

function received(console: ConsoleEnd, count: number): Promise<void> {
  return new Promise((resolve) => {
    let got = 0;
    console.onBytes((more) => {
      got += more;
      if (got >= count) resolve();
    });
  });
}
