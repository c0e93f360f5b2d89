import type { Catalog, ViewObject } from "@xo-server/inventory";
import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { Pools } from "../pools/pools.js";
import type { HeldLease } from "../cluster/held-lease.js";
import { FencedXapi } from "../tasks/fenced-xapi.js";
import type { TaskContext } from "../tasks/task-context.js";
import { TrackedXapi } from "../tasks/tracked-xapi.js";
import type { Span } from "../telemetry/span.js";
import { TracedXapi } from "../telemetry/traced-xapi.js";
import { FoundObject } from "./found-object.js";
import {
  hiddenObject,
  loaded,
  missingObject,
  type Loading,
} from "./missing-object.js";

/** An object, and the connection to its pool. */
export interface PoolObject {
  readonly id: string;
  readonly type: string;
  readonly ref: Ref;
  /** As clients see it. */
  readonly object: ViewObject;
  readonly xapi: Xapi;
  /** When it is lost, calls of `xapi` never settle: what waits for them has to be released. Absent: they always settle. */
  readonly lease?: HeldLease;
}

type CatalogPart = Pick<Catalog, "get" | "poolOf" | "classOf">;
type PoolsPart = Pick<Pools, "xapi">;

/** The task and the span that XAPI calls belong to. */
interface CallOrigin {
  /** See forTask. */
  readonly task?: TaskContext | undefined;
  /** Of calls without a task: nothing is sent when another server has it. Absent: they do not depend on a lease. */
  readonly lease?: HeldLease | undefined;
  /** Of calls without a task: see TaskContext. */
  readonly isPatient?: boolean;
  /** The parent of the spans of XAPI calls. */
  readonly span?: Span | undefined;
  /** See ofPool. */
  readonly only?: string | undefined;
}

/**
 * Finds objects of pools by the ids that clients use, together with everything that
 * a XAPI call needs.
 */
export class PoolObjects {
  readonly #catalog: CatalogPart;
  readonly #pools: PoolsPart;
  readonly #loading: Loading;
  readonly #task: TaskContext | undefined;
  readonly #span: Span | undefined;
  readonly #lease: HeldLease | undefined;
  readonly #isPatient: boolean;
  /** Id of a pool; see ofPool. */
  readonly #only: string | undefined;
  /** The last object found: checks of rights and the handler read the same one. */
  #last: FoundObject | undefined;

  constructor(
    catalog: CatalogPart,
    pools: PoolsPart,
    { task, span, lease, only, isPatient = false }: CallOrigin = {},
    loading: Loading = loaded,
  ) {
    this.#catalog = catalog;
    this.#pools = pools;
    this.#loading = loading;
    // Nothing is recorded for a task that no client follows.
    this.#task = task?.taskId === undefined ? undefined : task;
    this.#span = span;
    this.#lease = lease;
    this.#isPatient = isPatient;
    this.#only = only;
  }

  /**
   * The same objects for a task: XAPI tasks that are started through them are parts
   * of the task, and are cancelled with it.
   */
  forTask(task: TaskContext, span = this.#span): PoolObjects {
    return this.#from({ task, span });
  }

  /**
   * The same objects without a task, for cleanup that must be done even if the task
   * is cancelled. Nothing is sent when another server has adopted the task.
   */
  get untracked(): PoolObjects {
    const lease = this.#task?.lease;
    return this.#task === undefined
      ? this
      : this.#from({ span: this.#span, lease, isPatient: true });
  }

  /**
   * The same objects for an operation on one pool: an object that is not known was deleted, or
   * is in another pool, as soon as this pool is loaded.
   * @param only id of the pool
   */
  ofPool(only: string): PoolObjects {
    const [task, span, lease] = [this.#task, this.#span, this.#lease];
    const isPatient = this.#isPatient;
    return this.#from({ task, span, lease, isPatient, only });
  }

  #from(origin: CallOrigin): PoolObjects {
    return new PoolObjects(
      this.#catalog,
      this.#pools,
      { only: this.#only, ...origin },
      this.#loading,
    );
  }

  find(id: string): FoundObject | undefined {
    const entry = this.#catalog.get(id);
    if (entry === undefined) return undefined;
    this.#loading.noteFound(id, entry.pool);
    if (this.#last?.json !== entry.json || this.#last.id !== entry.id)
      this.#last = new FoundObject(entry);
    return this.#last;
  }

  /**
   * @param types accepted types; none: any type
   * @throws XoError NO_SUCH_OBJECT, OBJECTS_LOADING, NOT_CONNECTED
   */
  get(id: string, ...types: readonly string[]): PoolObject {
    const found = this.find(id);
    if (found === undefined) throw this.missing(types[0] ?? "object", id);
    if (types.length > 0 && !types.includes(found.type))
      throw new XoError("NO_SUCH_OBJECT", { type: types[0]!, id });
    const { object } = found;
    const lease = this.#task?.lease ?? this.#lease;
    return {
      id: found.id,
      type: found.type,
      ref: object["_xapiRef"] as Ref,
      object,
      xapi: this.#xapiOf(found.pool),
      ...(lease === undefined ? {} : { lease }),
    };
  }

  /** The error for an object that is not known, or that the caller may not read. */
  missing(type: string, id: string): XoError {
    return this.connectionOf(id) === undefined
      ? missingObject(this.#loading, type, id, this.#onlyConnection)
      : hiddenObject(this.#loading, type, id);
  }

  /** The id of the connection through which an object is known. */
  connectionOf(id: string): string | undefined {
    return this.#catalog.poolOf(id);
  }

  /**
   * The id of the object with an opaque reference. The mirror may show a new object
   * with a delay.
   */
  idOf(ref: Ref): string | undefined {
    return this.#catalog.get(ref)?.id;
  }

  /** XAPI's name for the class of objects of this type. */
  classOf(type: string): string {
    return this.#catalog.classOf(type)!;
  }

  get #onlyConnection(): string | undefined {
    return this.#only === undefined ? undefined : this.connectionOf(this.#only);
  }

  #xapiOf(pool: string): Xapi {
    const connection = this.#pools.xapi(pool);
    const xapi =
      this.#span === undefined
        ? connection
        : new TracedXapi(connection, pool, this.#span);
    if (this.#task !== undefined)
      return new TrackedXapi(xapi, pool, this.#task);
    return this.#lease === undefined && !this.#isPatient
      ? xapi
      : new FencedXapi(xapi, this.#lease);
  }
}
