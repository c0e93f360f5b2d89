import type {
  AsyncCallOptions,
  CallOptions,
  EventsOptions,
  ListOptions,
  PutStreamOptions,
  StreamOptions,
  Xapi,
} from "@xo-server/xen-api";
import type { Ref } from "@xo-server/model";
import type { Readable } from "node:stream";
import { inSpan, type Span } from "./span.js";

/** A pool whose calls are spans of a trace. */
export class TracedXapi implements Xapi {
  readonly #xapi: Xapi;
  readonly #pool: string;
  readonly #parent: Span;

  /** @param pool id of the pool connection */
  constructor(xapi: Xapi, pool: string, parent: Span) {
    this.#xapi = xapi;
    this.#pool = pool;
    this.#parent = parent;
  }

  #start(name: string): Span {
    return this.#parent.child(`XAPI ${name}`, {
      kind: "client",
      attributes: {
        "rpc.system": "xapi",
        "rpc.method": name,
        "xo.pool.id": this.#pool,
      },
    });
  }

  call(method: string, params?: readonly unknown[], options?: CallOptions) {
    return inSpan(this.#start(method), () =>
      this.#xapi.call(method, params, options),
    );
  }

  /** The span lasts until the XAPI task has ended. */
  callAsync(
    method: string,
    params?: readonly unknown[],
    options: AsyncCallOptions = {},
  ) {
    const span = this.#start(`Async.${method}`);
    return inSpan(span, () =>
      this.#xapi.callAsync(method, params, {
        ...options,
        onTask(task) {
          span.setAttribute("xapi.task", task);
          options.onTask?.(task);
        },
      }),
    );
  }

  watchTask(task: Ref, options?: Parameters<Xapi["watchTask"]>[1]) {
    const span = this.#start("task");
    span.setAttribute("xapi.task", task);
    return inSpan(span, () => this.#xapi.watchTask(task, options));
  }

  listRecords(className: string, options: ListOptions) {
    return inSpan(this.#start(`${className}.get_all_records`), () =>
      this.#xapi.listRecords(className, options),
    );
  }

  getStream(options: StreamOptions) {
    return inSpan(this.#start(`GET ${options.path}`), () =>
      this.#xapi.getStream(options),
    );
  }

  putStream(body: Readable, options: PutStreamOptions) {
    return inSpan(this.#start(`PUT ${options.path}`), () =>
      this.#xapi.putStream(body, options),
    );
  }

  get label() {
    return this.#xapi.label;
  }

  get state() {
    return this.#xapi.state;
  }

  get counters() {
    return this.#xapi.counters;
  }

  onState(listener: Parameters<Xapi["onState"]>[0]) {
    return this.#xapi.onState(listener);
  }

  connect(options?: Parameters<Xapi["connect"]>[0]) {
    return this.#xapi.connect(options);
  }

  disconnect() {
    return this.#xapi.disconnect();
  }

  listableClasses() {
    return this.#xapi.listableClasses();
  }

  injectToken() {
    return this.#xapi.injectToken();
  }

  events(options?: EventsOptions) {
    return this.#xapi.events(options);
  }

  streamTarget(options: StreamOptions) {
    return this.#xapi.streamTarget(options);
  }

  connectStream(options: StreamOptions) {
    return this.#xapi.connectStream(options);
  }
}
