import type { PreparedRequest, OpenWindow } from "./window-subscription.js";
import { Window } from "./window.js";

/**
 * Opens the window of a request, shared by all subscribers with the same
 * request. The last `close` closes it.
 */
export function openWindow(
  { handle, range, fields }: PreparedRequest,
  revision: () => number,
): OpenWindow {
  const { index, shared } = handle;
  const projection = index.acquireProjection(fields);
  const key = Window.keyOf(projection.key, range);
  const window =
    shared.windows.get(key) ??
    new Window([shared.result, projection], range, revision);
  shared.windows.set(key, window);
  window.users++;
  let isOpen = true;
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    if (--window.users === 0) {
      shared.windows.delete(key);
      window.close();
    }
    index.releaseProjection(projection);
    handle.release();
  };
  return { window, close };
}
