import { onScopeDispose, shallowRef, watch, type ShallowRef } from "vue";
import { monotonicClock } from "@xo-server/kit";
import type { Call } from "../../api/server-connection.js";
import { useServer } from "../../live/use-server.js";
import { LatestAnswer, type LatestView } from "./latest-answer.js";

/** While somebody clicks through hosts. */
const CALM_MS = 120;

export interface LatestWish<Q, A> {
  /** Undefined: none now. It is another one when its JSON is. */
  readonly question: () => Q | undefined;
  readonly ask: (question: Q, call: Call) => Promise<A>;
  /** When it differs, the same is asked anew. */
  readonly version?: () => unknown;
}

/** The answer to the last question that was wanted, until the scope ends. */
export function useLatest<Q, A>({
  question,
  ask,
  version = () => undefined,
}: LatestWish<Q, A>): Readonly<ShallowRef<LatestView<Q, A>>> {
  const { call, whenOpen, view: server } = useServer();
  const view = shallowRef<LatestView<Q, A>>({
    answer: undefined,
    question: undefined,
    isStale: false,
    failure: undefined,
  });
  const latest = new LatestAnswer<Q, A>({
    ask: (question) => ask(question, call),
    onView(next) {
      view.value = next;
    },
    clock: monotonicClock,
    calmMs: CALM_MS,
  });
  watch(
    () => JSON.stringify(question()),
    () => {
      latest.want(question());
    },
    { immediate: true },
  );
  watch(version, () => {
    latest.again();
  });
  whenOpen(() => {
    latest.again();
  });
  // What was known stays, and is old.
  watch(
    () => server.value.connection.name,
    (name) => {
      if (name !== "open" && view.value.answer !== undefined)
        view.value = { ...view.value, isStale: true };
    },
  );
  onScopeDispose(() => {
    latest.close();
  });
  return view;
}
