import type { Page, WebSocketRoute } from "playwright-core";

/** Answers to a method that do not reach a page until they are released. */
export class HeldAnswers {
  readonly #method: string;
  readonly #waiting: (() => void)[] = [];
  /** Ids of requests whose answers are held. */
  readonly #ids = new Set<number>();
  #isHolding = false;

  constructor(method: string) {
    this.#method = method;
  }

  /** Before the page loads. */
  route(page: Page): Promise<void> {
    return page.routeWebSocket(/\/api\//, (socket) => {
      this.#connect(socket);
    });
  }

  hold(): void {
    this.#isHolding = true;
  }

  release(): void {
    this.#isHolding = false;
    for (const send of this.#waiting.splice(0)) send();
  }

  #connect(page: WebSocketRoute): void {
    const server = page.connectToServer();
    page.onMessage((message) => {
      const { id, method } = JSON.parse(String(message)) as {
        id: number;
        method: string;
      };
      if (this.#isHolding && method === this.#method) this.#ids.add(id);
      server.send(message);
    });
    server.onMessage((message) => {
      const { id } = JSON.parse(String(message)) as { id?: number };
      const send = () => {
        page.send(message);
      };
      if (this.#isHolding && id !== undefined && this.#ids.delete(id))
        this.#waiting.push(send);
      else send();
    });
  }
}
