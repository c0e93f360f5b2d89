import type { Json } from "@xo-server/kit";
import type { Call } from "../../api/server-connection.js";
import { mayHaveRun } from "../../api/rpc-error.js";
import { fill, type Messages, type Plural } from "../../locale/messages.js";
import { pathOf } from "../../objects/object-path.js";
import type { ObjectRow } from "../../api/object-row.js";
import type { Toast, Toasts } from "../../toasts/use-toasts.js";
import {
  nameOf,
  type Action,
  type Localization,
  type Plan,
  type Skipped,
  type Step,
} from "./action.js";
import { errorMessage } from "./error-message.js";
import { runSequentially } from "./run-sequentially.js";
import type { BulkFailure, BulkOutcome, TaskFollower } from "./follow-task.js";

/** Copies and migrations of large disks take hours. */
export const LONG_MS = 24 * 3_600_000;
/** If an action ends within this time, no message about its progress is shown. */
const SOON_MS = 400;
/** If an action takes longer than this time, its form is hidden, and a toast shows its progress. */
const FORM_MS = 2_000;
const MAX_CONCURRENT = 10;

export interface Failed {
  readonly action: Action;
  readonly failures: readonly BulkFailure[];
  readonly leftOut: number;
  readonly objects: readonly ObjectRow[];
  /** Runs the action again for the objects that failed. */
  readonly retry: Plan;
}

export interface Runner {
  readonly call: Call;
  readonly follower: Pick<TaskFollower, "follow" | "expect">;
  readonly toasts: Pick<Toasts, "show">;
  readonly localization: () => Localization;
  readonly go: (path: string) => void;
  /** Shows the objects that an action failed for. */
  readonly showFailures: (failed: Failed) => void;
  /** ms */
  readonly now?: () => number;
  readonly setTimeout?: (run: () => void, ms: number) => unknown;
  readonly clearTimeout?: (timer: never) => void;
}

/** The dialog that has submitted a plan: it stays open until the outcome is known, if that is soon. */
export interface PlanForm {
  readonly isOpen: () => boolean;
  /** Whether it is open or can be opened again. */
  readonly isRetained: () => boolean;
  readonly hide: () => void;
  /** Opens it if it is hidden, and shows why the action failed. */
  readonly fail: (problem: string) => void;
  readonly remove: () => void;
}

/**
 * Runs the plan of an action and shows its outcome in one toast; a failure in the form,
 * if it is open. Never rejects.
 */
export async function runPlan(
  runner: Runner,
  action: Action,
  plan: Plan,
  form?: PlanForm,
): Promise<void> {
  const objects = plan.steps.flatMap(({ objects }) => objects);
  // The failures of several objects have a dialog of their own.
  if (objects.length !== 1) form?.remove();
  if (objects.length === 0) return;
  const toast = new PlanToast(
    runner,
    action,
    plan,
    objects.length === 1 ? form : undefined,
  );
  try {
    if (objects.length === 1) await runOne(runner, action, plan, toast);
    else if (action.isInTurn === true)
      await runTransfers(runner, action, plan, toast);
    else await runMany(runner, action, plan, toast);
  } catch (error) {
    toast.failed(error);
  }
}

async function runOne(
  { call }: Runner,
  action: Action,
  plan: Plan,
  toast: PlanToast,
): Promise<void> {
  const { operation, objects } = plan.steps.find(
    ({ objects }) => objects.length > 0,
  )!;
  const [object] = objects as [ObjectRow];
  const result = await call(
    operation.method,
    paramsOf(operation, object),
    LONG_MS,
  );
  action.onResult?.(result);
  const undo = (plan.undo ?? action.undo)?.(objects, [result]);
  toast.done(undo, result);
}

function paramsOf(operation: Step["operation"], { id }: ObjectRow): Json {
  const { idParameter = "id", params = {} } = operation;
  // Some operations identify their object only by their parameters.
  return idParameter === "" ? params : { ...params, [idParameter]: id };
}

async function runTransfers(
  runner: Runner,
  action: Action,
  plan: Plan,
  toast: PlanToast,
): Promise<void> {
  const notBegun = () => runner.localization().text.actions.notFetched;
  const outcome = await runSequentially(
    { ...runner, notBegun },
    action,
    plan.steps,
    ({ succeeded, failed }) => {
      toast.progress(succeeded, failed);
    },
  );
  toast.manyDone(plan, [outcome]);
}

async function runMany(
  runner: Runner,
  action: Action,
  plan: Plan,
  toast: PlanToast,
): Promise<void> {
  const outcomes: BulkOutcome[] = [];
  for (const { operation, objects } of plan.steps) {
    const before = outcomes.reduce((sum, one) => sum + one.succeeded, 0);
    const answer = await runner.call("bulk.run", {
      method: operation.method,
      ids: objects.map(({ id }) => id),
      idParameter: operation.idParameter ?? "id",
      params: operation.params ?? {},
      concurrency: operation.concurrency ?? MAX_CONCURRENT,
    });
    const { taskId } = answer as { taskId: string };
    const outcome = await runner.follower.follow(taskId, (counts) => {
      toast.progress(before + counts.succeeded, counts.failed);
    });
    outcomes.push(outcome);
  }
  toast.manyDone(plan, outcomes);
}

/** One toast for an action, from its start to its end. */
class PlanToast {
  readonly #runner: Runner;
  readonly #action: Action;
  readonly #objects: readonly ObjectRow[];
  readonly #skipped: readonly Skipped[];
  readonly #begun: number;
  readonly #timer: unknown;
  readonly #form: PlanForm | undefined;
  #id: string | undefined;

  constructor(runner: Runner, action: Action, plan: Plan, form?: PlanForm) {
    this.#runner = runner;
    this.#form = form;
    this.#action = action;
    this.#objects = plan.steps.flatMap(({ objects }) => objects);
    this.#skipped = plan.skipped ?? [];
    this.#begun = this.#now();
    const isMany = this.#objects.length > 1;
    this.#timer = (runner.setTimeout ?? setTimeout)(
      () => {
        form?.hide();
        this.#show({
          tone: "busy",
          detail: this.#text.running,
          ...this.#tasks,
        });
      },
      isMany ? 0 : form === undefined ? SOON_MS : FORM_MS,
    );
  }

  get #text() {
    return this.#runner.localization().text.actions;
  }

  get #tasks(): Pick<Toast, "action"> {
    const { go } = this.#runner;
    const run = () => {
      go("/tasks");
    };
    return { action: { label: this.#text.tasks, run } };
  }

  progress(done: number, failed: number): void {
    const total = this.#objects.length;
    const template =
      failed > 0 ? this.#text.progressFailed : this.#text.progress;
    const detail = fill(template, { done, total, failed });
    this.#show({ tone: "busy", detail, ...this.#tasks });
  }

  done(undo: readonly Step[] | undefined, result: Json): void {
    this.#form?.remove();
    const { formats } = this.#runner.localization();
    const took = this.#now() - this.#begun;
    const done =
      took < 2_000
        ? this.#text.done
        : fill(this.#text.doneAfter, { span: formats.span(took) });
    // The end of a download is that of its task.
    const isDownload = this.#action.onResult !== undefined;
    const detail = isDownload ? this.#text.downloading : done;
    const whole = this.#withSkipped(detail);
    this.#show({ tone: "good", detail: whole, ...this.#next(undo, result) });
  }

  failed(error: unknown): void {
    const detail = errorMessage(error, this.#runner.localization().text);
    // The action may still be running: it must not be requested again.
    if (mayHaveRun(error)) {
      this.#form?.remove();
      this.#show({ tone: "plain", detail, ...this.#tasks });
    } else if (this.#form?.isOpen() === true) {
      this.#clearTimer();
      this.#form.fail(detail);
    } else this.#show({ tone: "bad", detail, ...this.#reopen(detail) });
  }

  /** A button that opens the form again, with what was entered. */
  #reopen(problem: string): Pick<Toast, "action"> {
    const form = this.#form;
    if (form?.isRetained() !== true) return {};
    const run = () => {
      form.fail(problem);
    };
    return { action: { label: this.#text.reopen, run } };
  }

  manyDone(plan: Plan, outcomes: readonly BulkOutcome[]): void {
    const failures = outcomes.flatMap(({ failed }) => failed);
    const sum = (of: (outcome: BulkOutcome) => number) =>
      outcomes.reduce((total, one) => total + of(one), 0);
    const succeeded = sum((one) => one.succeeded);
    const leftOut = sum((one) => one.failedLeftOut);
    if (failures.length === 0) {
      const { formats } = this.#runner.localization();
      const undo = (plan.undo ?? this.#action.undo)?.(this.#objects, undefined);
      const detail = this.#withSkipped(
        formats.plural(this.#text.allDone, succeeded),
      );
      this.#show({ tone: "good", detail, ...this.#next(undo, null) });
      return;
    }
    const failed = failures.length + leftOut;
    const detail = this.#withSkipped(
      fill(this.#text.someFailed, { succeeded, failed }),
    );
    const action = this.#action;
    const objects = this.#objects;
    const retry = onlyFailed(plan, failures);
    const run = () => {
      this.#runner.showFailures({ action, failures, leftOut, objects, retry });
    };
    const label = this.#text.details;
    this.#show({ tone: "bad", detail, action: { label, run } });
  }

  #withSkipped(detail: string): string {
    return [
      detail,
      ...skippedLines(this.#skipped, this.#runner.localization()),
    ].join(". ");
  }

  /** Follow-up of an action: undo it, or show what it has created. */
  #next(
    undo: readonly Step[] | undefined,
    result: Json,
  ): Pick<Toast, "action"> {
    const { text } = this.#runner.localization();
    if (undo !== undefined && undo.length > 0)
      return {
        action: { label: text.ui.undo, run: () => this.#takeBack(undo) },
      };
    const { createdType } = this.#action;
    const path =
      createdType !== undefined && typeof result === "string"
        ? pathOf(createdType, result)
        : undefined;
    if (path === undefined) return {};
    const run = () => {
      this.#runner.go(path);
    };
    return { action: { label: text.actions.open, run } };
  }

  async #takeBack(steps: readonly Step[]): Promise<void> {
    this.#show({ tone: "busy", detail: this.#text.running });
    try {
      for (const { operation, objects } of steps)
        await Promise.all(
          objects.map((object) =>
            this.#runner.call(
              operation.method,
              paramsOf(operation, object),
              LONG_MS,
            ),
          ),
        );
      this.#show({ tone: "good", detail: this.#text.undone });
    } catch (error) {
      const { text } = this.#runner.localization();
      const detail = `${text.actions.undoFailed}: ${errorMessage(error, text)}`;
      this.#show({ tone: "bad", detail });
    }
  }

  #show(toast: Omit<Toast, "id" | "text">): void {
    this.#clearTimer();
    const text = headingOf(
      this.#action,
      this.#objects,
      this.#runner.localization(),
    );
    const id = this.#id === undefined ? {} : { id: this.#id };
    this.#id = this.#runner.toasts.show({ ...toast, ...id, text });
  }

  #clearTimer(): void {
    const { clearTimeout: clear = clearTimeout } = this.#runner;
    clear(this.#timer as never);
  }

  #now(): number {
    return this.#runner.now?.() ?? Date.now();
  }
}

function onlyFailed(plan: Plan, failures: readonly BulkFailure[]): Plan {
  const ids = new Set(failures.map(({ id }) => id));
  const steps = plan.steps.map(({ operation, objects }) => ({
    operation,
    objects: objects.filter(({ id }) => ids.has(id)),
  }));
  return {
    ...plan,
    steps: steps.filter(({ objects }) => objects.length > 0),
    skipped: [],
  };
}

/** `40 selected objects are skipped: The VM is running`, by reason; few are named. */
export function skippedLines(
  skipped: readonly Skipped[],
  { text, formats }: Localization,
): readonly string[] {
  return skipped.map(({ reason, count, names }) =>
    count <= names.length
      ? fill(text.actions.leftOutNames, { names: names.join(", "), reason })
      : fill(formats.plural(text.actions.leftOut, count), { reason }),
  );
}

/** `Start: web-1`, `Start: 12 objects`. */
export function headingOf(
  action: Action,
  objects: readonly ObjectRow[],
  { text, formats }: Localization,
): string {
  const [first] = objects;
  const name =
    objects.length === 1 && first !== undefined
      ? nameOf(first)
      : formats.plural(formsOf(objects, text), objects.length);
  const label = action.label(text).replace("…", "");
  return fill(text.actions.heading, { action: label, name });
}

/** `12 VMs` if all are VMs, else `12 objects`. */
function formsOf(objects: readonly ObjectRow[], text: Messages): Plural {
  const types = new Set(objects.map(({ type }) => type));
  const [type = ""] = types;
  const names: Readonly<Record<string, Plural>> = text.objects.types;
  const named = types.size === 1 ? names[type] : undefined;
  if (named === undefined) return text.actions.many;
  return Object.fromEntries(
    Object.entries(named).map(([form, name]) => [form, `{n} ${name}`]),
  ) as Plural;
}
