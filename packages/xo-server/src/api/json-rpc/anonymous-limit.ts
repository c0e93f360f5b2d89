import type { Socket } from "node:net";
import type { WebSocket } from "ws";

/** Messages of anonymous clients, such as signing in, are much smaller. */
const MAX_ANONYMOUS_BYTES = 256 * 1024;

const MESSAGE_TOO_BIG = 1009;

/**
 * Closes a socket that sends data without ever completing a message, unless a user has signed in on
 * it: thousands of partial messages of anonymous clients would fill the memory.
 * @param isAllowed called at the limit; if true, the socket is no longer limited
 */
export function limitAnonymousMessage(
  raw: Socket,
  socket: WebSocket,
  isAllowed: () => boolean,
): void {
  let endOfMessage = raw.bytesRead;
  const onMessage = () => {
    endOfMessage = raw.bytesRead;
  };
  const onData = () => {
    if (raw.bytesRead - endOfMessage <= MAX_ANONYMOUS_BYTES) return;
    raw.off("data", onData);
    socket.off("message", onMessage);
    if (isAllowed()) return;
    socket.close(MESSAGE_TOO_BIG, "message too large before signing in");
    socket.terminate();
  };
  raw.on("data", onData);
  socket.on("message", onMessage);
}
