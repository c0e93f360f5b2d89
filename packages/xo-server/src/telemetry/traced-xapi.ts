import {
  DelegatingXapi,
  type AsyncCallOptions,
  type CallOptions,
  type ListOptions,
  type PutStreamOptions,
  type StreamOptions,
  type Xapi,
} from "@xo-server/xen-api";
import type { Ref } from "@xo-server/model";
import type { Readable } from "node:stream";
import { inSpan, type Span } from "./span.js";

/** A pool whose calls are spans of a trace. */
export class TracedXapi extends DelegatingXapi {
  readonly #pool: string;
  readonly #parent: Span;

  /** @param pool id of the pool connection */
  constructor(xapi: Xapi, pool: string, parent: Span) {
    super(xapi);
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

  override call(
    method: string,
    params?: readonly unknown[],
    options?: CallOptions,
  ) {
    return inSpan(this.#start(method), () =>
      this.xapi.call(method, params, options),
    );
  }

  /** The span lasts until the XAPI task has ended. */
  override callAsync(
    method: string,
    params?: readonly unknown[],
    options: AsyncCallOptions = {},
  ) {
    const span = this.#start(`Async.${method}`);
    return inSpan(span, () =>
      this.xapi.callAsync(method, params, {
        ...options,
        onTask(task) {
          span.setAttribute("xapi.task", task);
          options.onTask?.(task);
        },
      }),
    );
  }

  override watchTask(task: Ref, options?: Parameters<Xapi["watchTask"]>[1]) {
    const span = this.#start("task");
    span.setAttribute("xapi.task", task);
    return inSpan(span, () => this.xapi.watchTask(task, options));
  }

  override listRecords(className: string, options: ListOptions) {
    return inSpan(this.#start(`${className}.get_all_records`), () =>
      this.xapi.listRecords(className, options),
    );
  }

  override getStream(options: StreamOptions) {
    return inSpan(this.#start(`GET ${options.path}`), () =>
      this.xapi.getStream(options),
    );
  }

  override putStream(body: Readable, options: PutStreamOptions) {
    return inSpan(this.#start(`PUT ${options.path}`), () =>
      this.xapi.putStream(body, options),
    );
  }
}
