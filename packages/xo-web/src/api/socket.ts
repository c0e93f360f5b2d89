/** The events of a connection; `closed` is the last one. */
export interface SocketHandlers {
  opened(): void;
  received(text: string): void;
  /** @param code 1001: the server is stopping, and another one may answer; 1006: without a close frame */
  closed(code: number): void;
}

export interface Socket {
  send(text: string): void;
  /** May be called at any time; `closed` follows. */
  close(): void;
}

export type OpenSocket = (url: string, handlers: SocketHandlers) => Socket;

/** A browser's WebSocket. It answers the server's pings by itself. */
export const openWebSocket: OpenSocket = (url, handlers) => {
  const socket = new WebSocket(url);
  socket.onopen = () => {
    handlers.opened();
  };
  socket.onmessage = (event: MessageEvent<unknown>) => {
    // The server speaks in text frames only.
    if (typeof event.data === "string") handlers.received(event.data);
  };
  socket.onclose = ({ code }) => {
    handlers.closed(code);
  };
  return {
    send: (text) => {
      socket.send(text);
    },
    close: () => {
      socket.close();
    },
  };
};
