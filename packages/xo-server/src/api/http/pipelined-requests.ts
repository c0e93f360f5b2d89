import type {
  IncomingMessage,
  RequestListener,
  ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import type { RequestTurns } from "./request-turns.js";

/** Maximum number of requests of one connection that wait for the response of an earlier one. */
const MAX_WAITING = 64;

interface PipelinedRequestsOptions {
  /** Handles a request. */
  readonly onRequest: RequestListener;
  /** Called before a connection with too many waiting requests is closed. */
  readonly onTooMany: () => void;
  readonly turns: Pick<RequestTurns, "run">;
}

interface Waiting {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Handles the requests of each connection one after the other. Node.js passes on all requests that a
 * client has sent without waiting for responses (pipelining), and would buffer the responses: a client
 * that reads nothing would get as many begun as it requests.
 */
export class PipelinedRequests {
  readonly #options: PipelinedRequestsOptions;
  /** Connections with a request that is being handled, and those that wait for its response. */
  readonly #busy = new Map<Socket, Waiting[]>();

  constructor(options: PipelinedRequestsOptions) {
    this.#options = options;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    // What had been received before it was closed.
    if (socket.destroyed) return;
    const waiting = this.#busy.get(socket);
    if (waiting === undefined) {
      this.#busy.set(socket, []);
      this.#begin({ request, response });
    } else if (waiting.length < MAX_WAITING) {
      waiting.push({ request, response });
    } else {
      this.#options.onTooMany();
      socket.destroy();
    }
  }

  #begin({ request, response }: Waiting): void {
    const { socket } = request;
    const { onRequest, turns } = this.#options;
    // Also emitted when the connection is closed.
    response.once("close", () => {
      const next = socket.destroyed
        ? undefined
        : this.#busy.get(socket)?.shift();
      if (next === undefined) this.#busy.delete(socket);
      else this.#begin(next);
    });
    const begin = () => {
      if (!socket.destroyed) onRequest(request, response);
    };
    // Checks of load balancers must not wait for others: they are cheap.
    if (request.url?.startsWith("/health") === true) begin();
    else turns.run(begin);
  }
}
