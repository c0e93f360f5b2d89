import { setTimeout as pause } from "node:timers/promises";
import type { ConsoleEnd } from "./console-end.js";
import { KEY_ANSWER, WHOLE_PICTURE, keyEvent, pictureRequest } from "./wire.js";

/** Framebuffer updates requested ahead, so that round trips do not limit the throughput. */
const AHEAD = 4;

/** @returns ms from each key press to the last byte of the update that it caused */
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

/** @param bytes number that is transferred at least @returns bytes per second */
export async function fetchPictures(
  console: ConsoleEnd,
  bytes: number,
): Promise<number> {
  const pictures = Math.ceil(bytes / WHOLE_PICTURE.length);
  const started = performance.now();
  let requested = 0;
  let receivedBytes = 0;
  await new Promise<void>((resolve) => {
    const request = () => {
      while (
        requested < pictures &&
        requested - receivedBytes / WHOLE_PICTURE.length < AHEAD
      ) {
        requested++;
        console.send(pictureRequest());
      }
    };
    console.onBytes((count) => {
      receivedBytes += count;
      if (receivedBytes === pictures * WHOLE_PICTURE.length) resolve();
      else request();
    });
    request();
  });
  return (receivedBytes * 1000) / (performance.now() - started);
}

function received(console: ConsoleEnd, count: number): Promise<void> {
  return new Promise((resolve) => {
    let receivedBytes = 0;
    console.onBytes((more) => {
      receivedBytes += more;
      if (receivedBytes >= count) resolve();
    });
  });
}
