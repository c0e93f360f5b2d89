import { ref, shallowRef, type Ref, type ShallowRef } from "vue";
import { useRouter } from "vue-router";
import { errorMessage } from "../actions/plan/error-message.js";
import { LONG_MS } from "../actions/plan/run-plan.js";
import { isObject, type Json } from "@xo-server/kit";
import { RpcError } from "../api/rpc-error.js";
import { useServer } from "../live/use-server.js";
import { fill } from "../locale/messages.js";
import { useLocale } from "../locale/use-locale.js";
import { pathOf } from "../objects/object-path.js";
import { useToasts } from "../toasts/use-toasts.js";
import type { CreateOrder } from "./create-order.js";

export interface MadeVm {
  readonly id: string;
  readonly name: string;
}

/** Has VMs made; a toast tells the end, also on another page. */
export function useMaking(): {
  readonly isBusy: Ref<boolean>;
  readonly made: ShallowRef<readonly MadeVm[]>;
  readonly failure: Ref<string | undefined>;
  /** @returns whether all of them were made */
  readonly make: (order: CreateOrder, name: string) => Promise<boolean>;
  readonly forget: () => void;
} {
  const { call } = useServer();
  const { text } = useLocale();
  const toasts = useToasts();
  const router = useRouter();
  const isBusy = ref(false);
  const made = shallowRef<readonly MadeVm[]>([]);
  const failure = ref<string>();

  async function make(order: CreateOrder, name: string): Promise<boolean> {
    isBusy.value = true;
    forget();
    const words = text.value.createVm.summary;
    const go = (path: string) => () => void router.push(path);
    const id = toasts.show({
      tone: "busy",
      text: fill(words.makingToast, { name }),
      action: { label: text.value.actions.tasks, run: go("/tasks") },
    });
    try {
      made.value = madeOf(
        await call(order.method, order.params, LONG_MS),
        name,
      );
      const path =
        made.value.length === 1 ? pathOf("VM", made.value[0]!.id) : undefined;
      toasts.show({
        id,
        tone: "good",
        text: fill(words.madeToast, { name }),
        action: { label: text.value.actions.open, run: go(path ?? "/vms") },
      });
      return true;
    } catch (error) {
      failure.value = errorMessage(error, text.value);
      made.value = madeAllTheSame(error);
      const detail = failure.value;
      const isLost = !(error instanceof RpcError);
      toasts.show({
        id,
        detail,
        tone: isLost ? "plain" : "bad",
        text: isLost ? fill(words.makingToast, { name }) : words.failed,
      });
      return false;
    } finally {
      isBusy.value = false;
    }
  }

  function forget(): void {
    made.value = [];
    failure.value = undefined;
  }
  return { isBusy, made, failure, make, forget };
}

function madeOf(answer: Json, name: string): readonly MadeVm[] {
  if (typeof answer === "string") return [{ id: answer, name }];
  return Array.isArray(answer) ? (answer as MadeVm[]) : [];
}

/** Where some of many have failed, the others are there. */
function madeAllTheSame(error: unknown): readonly MadeVm[] {
  const data = error instanceof RpcError ? (error.data as Json) : null;
  const more = isObject(data) ? (data["data"] ?? data) : {};
  const { created } = isObject(more) ? more : {};
  return Array.isArray(created) ? (created as MadeVm[]) : [];
}
