import { backoffMs, type BackoffOptions } from "./backoff.js";

interface FailedClassesOptions {
  /** Milliseconds; only differences matter. */
  readonly now: () => number;
  readonly backoff: BackoffOptions;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

interface FailedClass {
  readonly error: Error;
  readonly attempts: number;
  /** When the class must be listed again. */
  readonly dueAt: number;
  /** Refusals in a row; 0 when the last failure was not a refusal. */
  readonly refusals: number;
  readonly firstRefusedAt: number;
}

/** Number of refusals that confirm the removal of a class with mirrored objects. */
const HELD_REFUSALS = 3;
/** Minimum time between the first and the last of these refusals, in milliseconds. */
const HELD_REFUSAL_MS = 60_000;
/** A class without mirrored objects: a second refusal confirms the first. */
const EMPTY_REFUSALS = 2;

/**
 * Classes whose last listing failed: their objects in the mirror may be
 * outdated until they have been listed. Each is listed again after a delay that
 * doubles. A refusal (the pool does not have the class, or does not permit us
 * to read it) is accepted when it was confirmed: a proxy, a toolstack that
 * starts or a changed role can refuse once what existed a moment ago.
 */
export class FailedClasses {
  readonly #options: FailedClassesOptions;
  readonly #failed = new Map<string, FailedClass>();
  /** Classes whose refusal was confirmed, until they are listed successfully. */
  readonly #refused = new Set<string>();

  constructor(options: FailedClassesOptions) {
    this.#options = options;
  }

  /** Classes that the pool refuses; confirmed. */
  get refused(): ReadonlySet<string> {
    return this.#refused;
  }

  /** Error of the class that failed first; undefined when no class failed. */
  get error(): Error | undefined {
    const [first] = this.#failed.values();
    return first?.error;
  }

  /** Earliest time at which a class must be listed again. */
  get nextDueAt(): number | undefined {
    const [first] = [...this.#failed.values()].sort(
      (a, b) => a.dueAt - b.dueAt,
    );
    return first?.dueAt;
  }

  /** Classes that must be listed again now. */
  due(): string[] {
    const now = this.#options.now();
    return [...this.#failed].flatMap(([className, { dueAt }]) =>
      dueAt <= now ? [className] : [],
    );
  }

  recordSuccess(className: string): void {
    this.#failed.delete(className);
    this.#refused.delete(className);
  }

  /** The class is not mirrored any more. */
  remove(className: string): void {
    this.#failed.delete(className);
    this.#refused.delete(className);
  }

  recordFailure(className: string, error: Error): void {
    this.#record(className, error, { refusals: 0, firstRefusedAt: 0 });
  }

  /**
   * @param isHeld whether the mirror holds objects of the class
   * @param isListable whether system.listMethods names the class; a class that
   *   it does not name needs no second refusal
   * @returns whether the refusal is confirmed: the class does not exist for us
   */
  recordRefusal(
    className: string,
    error: Error,
    {
      isHeld,
      isListable,
    }: { readonly isHeld: boolean; readonly isListable: boolean },
  ): boolean {
    const last = this.#failed.get(className);
    const now = this.#options.now();
    const isFirst = last === undefined || last.refusals === 0;
    const firstRefusedAt = isFirst ? now : last.firstRefusedAt;
    const refusals = isFirst ? 1 : last.refusals + 1;
    const isConfirmed =
      !isListable ||
      (!isHeld && this.#refused.has(className)) ||
      (isHeld
        ? refusals >= HELD_REFUSALS && now - firstRefusedAt >= HELD_REFUSAL_MS
        : refusals >= EMPTY_REFUSALS);
    if (isConfirmed) {
      this.#failed.delete(className);
      this.#refused.add(className);
    } else this.#record(className, error, { refusals, firstRefusedAt });
    return isConfirmed;
  }

  #record(
    className: string,
    error: Error,
    refusal: { readonly refusals: number; readonly firstRefusedAt: number },
  ): void {
    const { now, backoff, random } = this.#options;
    const attempts = (this.#failed.get(className)?.attempts ?? 0) + 1;
    const dueAt = now() + backoffMs(backoff, attempts, random());
    this.#failed.set(className, { error, attempts, dueAt, ...refusal });
  }
}
