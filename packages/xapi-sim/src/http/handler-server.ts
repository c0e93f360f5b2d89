import { datamodel } from "@xo-server/model";
import type { Core } from "../calls/core.js";
import type { HandlerContext, HttpHandler } from "../http-handler.js";
import type { SessionContext, TaskContext } from "../operation.js";
import { XapiFailure } from "../xapi-failure.js";
import { toFailure } from "../calls/dispatcher.js";
import { unauthorised } from "./error-pages.js";
import { EndedEarly } from "./faulty-transfer.js";
import type { RequestHead } from "./request-head.js";
import {
  SocketResponse,
  toRequest,
  transferConnection,
  type HandlerIo,
} from "./handler-exchange.js";
import { relayOf, relayStatistics } from "./statistics-relay.js";
import { authenticate, type Authentication } from "./handler-credentials.js";

/** Runs HTTP handlers: credentials first, a task around them, errors as XAPI words them. */
export class HandlerServer {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * @returns whether the connection stays open, or that the handler has taken
   *   it over
   */
  async serve(
    handler: HttpHandler,
    head: RequestHead,
    io: HandlerIo,
  ): Promise<boolean | "taken"> {
    const elsewhere = relayOf(this.#core, handler);
    if (elsewhere !== undefined) {
      const { hostRef } = io;
      const request = { head, hostRef };
      return io.writer.write(
        await relayStatistics(this.#core, elsewhere, request),
      );
    }
    const who = await this.#authenticate(handler, head, io);
    if ("refusal" in who) return io.writer.write(who.refusal);
    const method = `http/${handler.name}`;
    if (!(await io.writer.before(method, head.version))) {
      who.end();
      return false;
    }
    const task =
      handler.taskless === true ? undefined : this.#task(head, io, who.session);
    const connection = transferConnection({ head, io }, this.#core);
    const exchange = { head, io, task, connection, method };
    const response = new SocketResponse(exchange);
    try {
      await this.#injectedError(handler, who.session, { io, task });
      await handler.handle(
        toRequest(exchange),
        response,
        this.#context(handler, who.session, { io, task }),
      );
      if (task !== undefined) this.#core.tasks.succeed(task.ref, task.fragment);
    } catch (error) {
      if (error instanceof EndedEarly && head.method === "GET") {
        if (task !== undefined) this.#core.tasks.succeed(task.ref, "");
      } else this.#failed(handler, toFailure(error), { task, response });
    } finally {
      who.end();
    }
    return response.finish();
  }

  /** @throws XapiFailure that this request is to meet */
  async #injectedError(
    handler: HttpHandler,
    session: SessionContext,
    at: { io: HandlerIo; task: HandlerTask | undefined },
  ): Promise<void> {
    const injectedError = this.#core.injectedErrors.take(
      `http/${handler.name}`,
      undefined,
    );
    if (injectedError === undefined) return;
    const { delay } = this.#context(handler, session, at);
    if (injectedError.delayMs !== undefined) await delay(injectedError.delayMs);
    if (injectedError.error !== undefined)
      throw new XapiFailure(injectedError.error, injectedError.params);
  }

  async #authenticate(
    handler: HttpHandler,
    head: RequestHead,
    io: HandlerIo,
  ): Promise<Authentication> {
    if (handler.credentials === "none")
      return { session: { ref: "", userName: "" }, end: () => undefined };
    const who = await authenticate(this.#core, head, io.hostRef);
    return who ?? { refusal: unauthorised(head.version, realmOf(handler)) };
  }

  #task(
    head: RequestHead,
    io: HandlerIo,
    session: SessionContext,
  ): HandlerTask {
    const { tasks, db } = this.#core;
    const input = head.query.get("task_id") ?? head.headers.get("task-id");
    const subtaskOf = head.query.get("subtask_of");
    const ref =
      input !== null &&
      input !== undefined &&
      db.find("task", input) !== undefined
        ? input
        : tasks.create(`${head.method} ${head.path}`, "", {
            session: session.ref,
            residentOn: io.hostRef,
            ...(subtaskOf === null ? {} : { subtaskOf }),
          });
    return new HandlerTask(tasks.start(ref));
  }

  #context(
    handler: HttpHandler,
    session: SessionContext,
    { io, task }: { io: HandlerIo; task: HandlerTask | undefined },
  ): HandlerContext {
    const { db, state, pool, clock, random, waiters } = this.#core;
    const { hostRef } = io;
    const signal = task?.signal ?? io.closed;
    return {
      db,
      state,
      pool,
      session,
      clock,
      random,
      hostRef,
      task:
        task ?? new HandlerTask({ ref: "", signal, progress: () => undefined }),
      delay: async (ms) => {
        await waiters.delay(ms, signal);
        if (task?.signal.aborted)
          throw new XapiFailure("TASK_CANCELLED", [task.ref]);
      },
    };
  }

  /** Ends the task with a permission error, whatever the cause [xapi_http.ml:103-136]. */
  #failed(
    handler: HttpHandler,
    failure: XapiFailure,
    {
      task,
      response,
    }: { task: HandlerTask | undefined; response: SocketResponse },
  ): void {
    const text = `${failure.code}: [ ${failure.params.join("; ")} ]`;
    if (task !== undefined)
      this.#core.tasks.fail(
        task.ref,
        failure.code === "TASK_CANCELLED"
          ? failure
          : new XapiFailure("RBAC_PERMISSION_DENIED", [
              `http/${handler.name}`,
              text,
            ]),
      );
    if (!response.started) response.crash(text);
  }
}

/** The datamodel's name of the path; the handler's own where it has none. */
function realmOf({ name, method, path }: HttpHandler): string {
  const action = datamodel.httpActions.find(
    (row) => row.uri === path && row.method.toUpperCase() === method,
  );
  return action?.name ?? name;
}

class HandlerTask implements TaskContext {
  readonly ref: string;
  readonly signal: AbortSignal;
  readonly #task: TaskContext;
  fragment = "";

  constructor(task: TaskContext) {
    this.#task = task;
    this.ref = task.ref;
    this.signal = task.signal;
  }

  progress(fraction: number): void {
    this.#task.progress(fraction);
  }

  result(fragment: string): void {
    this.fragment = fragment;
  }
}
