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

export interface CreatedVm {
  readonly id: string;
  readonly name: string;
}

/** Creates VMs; a toast reports the outcome, also on another page. */
export function useVmCreation(): {
  readonly isBusy: Ref<boolean>;
  readonly created: ShallowRef<readonly CreatedVm[]>;
  readonly failure: Ref<string | undefined>;
  /** @returns whether all VMs were created */
  readonly create: (order: CreateOrder, name: string) => Promise<boolean>;
  readonly forget: () => void;
} {
  const { call } = useServer();
  const { text } = useLocale();
  const toasts = useToasts();
  const router = useRouter();
  const isBusy = ref(false);
  const created = shallowRef<readonly CreatedVm[]>([]);
  const failure = ref<string>();

  async function create(order: CreateOrder, name: string): Promise<boolean> {
    isBusy.value = true;
    forget();
    const texts = text.value.createVm.summary;
    const go = (path: string) => () => void router.push(path);
    const id = toasts.show({
      tone: "busy",
      text: fill(texts.creatingToast, { name }),
      action: { label: text.value.actions.tasks, run: go("/tasks") },
    });
    try {
      created.value = createdOf(
        await call(order.method, order.params, LONG_MS),
        name,
      );
      const path =
        created.value.length === 1
          ? pathOf("VM", created.value[0]!.id)
          : undefined;
      toasts.show({
        id,
        tone: "good",
        text: fill(texts.createdToast, { name }),
        action: { label: text.value.actions.open, run: go(path ?? "/vms") },
      });
      return true;
    } catch (error) {
      failure.value = errorMessage(error, text.value);
      created.value = createdDespiteFailure(error);
      const detail = failure.value;
      const isLost = !(error instanceof RpcError);
      toasts.show({
        id,
        detail,
        tone: isLost ? "plain" : "bad",
        text: isLost ? fill(texts.creatingToast, { name }) : texts.failed,
      });
      return false;
    } finally {
      isBusy.value = false;
    }
  }

  function forget(): void {
    created.value = [];
    failure.value = undefined;
  }
  return { isBusy, created, failure, create, forget };
}

function createdOf(answer: Json, name: string): readonly CreatedVm[] {
  if (typeof answer === "string") return [{ id: answer, name }];
  return Array.isArray(answer) ? (answer as CreatedVm[]) : [];
}

/** The VMs that were created although others failed. */
function createdDespiteFailure(error: unknown): readonly CreatedVm[] {
  const data = error instanceof RpcError ? (error.data as Json) : null;
  const more = isObject(data) ? (data["data"] ?? data) : {};
  const { created } = isObject(more) ? more : {};
  return Array.isArray(created) ? (created as CreatedVm[]) : [];
}
