import { onScopeDispose, shallowRef, watch, type ShallowRef } from "vue";
import { monotonicClock } from "@xo-server/kit";
import type { Call } from "../../api/server-connection.js";
import { useServer } from "../../live/use-server.js";
import { LatestAnswer, type LatestView } from "./latest-answer.js";

/** Delay of questions while hosts are being selected. */
const CALM_MS = 120;

interface LatestOptions<Q, A> {
  /** Undefined: none now. Questions are compared by their JSON. */
  readonly question: () => Q | undefined;
  readonly request: (question: Q, call: Call) => Promise<A>;
  /** When it changes, the same question is sent again. */
  readonly version?: () => unknown;
}

/** The answer to the latest question, until the scope ends. */
export function useLatest<Q, A>({
  question,
  request,
  version = () => undefined,
}: LatestOptions<Q, A>): Readonly<ShallowRef<LatestView<Q, A>>> {
  const { call, whenOpen, view: server } = useServer();
  const view = shallowRef<LatestView<Q, A>>({
    answer: undefined,
    question: undefined,
    isStale: false,
    failure: undefined,
  });
  const latest = new LatestAnswer<Q, A>({
    request: (question) => request(question, call),
    onView(next) {
      view.value = next;
    },
    clock: monotonicClock,
    debounceMs: CALM_MS,
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
  // Without a connection the last answer stays and is marked as stale.
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
