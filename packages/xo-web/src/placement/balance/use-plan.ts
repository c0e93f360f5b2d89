import {
  computed,
  onScopeDispose,
  ref,
  shallowRef,
  watch,
  type ComputedRef,
  type Ref,
  type ShallowRef,
} from "vue";
import { useServer } from "../../live/use-server.js";
import type { FormFailure } from "../../forms/failure.js";
import { useRequest } from "../../forms/use-request.js";
import {
  allOf,
  choose,
  chosenActions,
  type ChosenMoves,
} from "./move-choice.js";
import {
  isSamePlan,
  type Goal,
  type Recommendation,
} from "./recommendation.js";
import { planQuestion } from "./plan-question.js";

const INTERVAL_MS = 30_000;
/** Timeout in ms; planning of large pools is slow. */
const TIMEOUT_MS = 120_000;

interface LivePlan {
  readonly plan: Readonly<ShallowRef<Recommendation | undefined>>;
  readonly failure: Readonly<ShallowRef<FormFailure | undefined>>;
  readonly chosen: Readonly<ShallowRef<ChosenMoves>>;
  /** The user has selected migrations or opened a dialog: no updates until `refresh`. */
  readonly isHeld: ComputedRef<boolean>;
  /** A dialog is open. */
  readonly isOpen: Ref<boolean>;
  readonly isAsking: Ref<boolean>;
  readonly choose: (index: number, isChosen: boolean) => void;
  readonly chooseAll: (isChosen: boolean) => void;
  /** The selected actions as a plan of their own. */
  readonly requested: () => Recommendation["actions"];
  readonly refresh: () => Promise<void>;
}

/** The recommended plan, refreshed every 30 s until the user selects migrations. */
export function usePlan(
  pool: string,
  goal: Goal,
  hosts: readonly string[],
): LivePlan {
  const { view } = useServer();
  const { method, params } = planQuestion(pool, goal, hosts);
  const recommendation = useRequest<Recommendation>((call) =>
    call(method, params, TIMEOUT_MS),
  );
  const plan = shallowRef<Recommendation>();
  const chosen = shallowRef<ChosenMoves>(new Set());
  const isTouched = ref(false);
  const isOpen = ref(false);
  const isAsking = ref(false);
  const isHeld = computed(() => isTouched.value || isOpen.value);

  watch(recommendation.value, (received) => {
    // An answer that arrives after the user began to select is ignored.
    if (received === undefined || isHeld.value) return;
    if (!isSamePlan(plan.value, received))
      chosen.value = allOf(received.actions);
    plan.value = received;
  });

  async function refresh(): Promise<void> {
    isTouched.value = false;
    isAsking.value = true;
    await recommendation.reload();
    isAsking.value = false;
  }
  const timer = setInterval(() => {
    const isConnected = view.value.connection.name === "open";
    if (isConnected && !isHeld.value && !document.hidden) void refresh();
  }, INTERVAL_MS);
  onScopeDispose(() => {
    clearInterval(timer);
  });

  return {
    plan,
    failure: recommendation.failure,
    chosen,
    isHeld,
    isOpen,
    isAsking,
    choose(index, isChosen) {
      if (plan.value === undefined) return;
      const { actions } = plan.value;
      chosen.value = choose(actions, chosen.value, index, isChosen);
      isTouched.value = true;
    },
    chooseAll(isChosen) {
      if (plan.value === undefined) return;
      chosen.value = isChosen ? allOf(plan.value.actions) : new Set();
      isTouched.value = !isChosen;
    },
    requested: () => chosenActions(plan.value?.actions ?? [], chosen.value),
    refresh,
  };
}
