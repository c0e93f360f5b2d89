import { computed, reactive, ref, shallowRef } from "vue";
import { useChange } from "../use-change.js";
import { addressFault, afterProbe, type Probe } from "./probe.js";
import { codeOf, remedyFor, type ServerRow } from "./server-row.js";

/** What a person writes about a pool. */
export interface PoolEntries {
  host: string;
  username: string;
  password: string;
  label: string;
  readOnly: boolean;
}

/**
 * The way of a pool into the server: what is written, a look at the host, its
 * certificate, and only then the password goes there.
 * @param server the one that is changed; absent: a new one
 */
export function usePoolForm(server?: ServerRow) {
  const change = useChange();
  const entries = reactive<PoolEntries>({
    host: server?.host ?? "",
    username: server?.username ?? "root",
    password: "",
    label: server?.label ?? "",
    readOnly: server?.readOnly ?? false,
  });
  const probe = shallowRef<Probe>();
  const step = ref<"entries" | "certificate">("entries");
  /** Faults are told once somebody has tried. */
  const wasTried = ref(false);

  const fault = computed(() =>
    wasTried.value ? addressFault(entries.host) : undefined,
  );
  const lacksPassword = computed(
    () => wasTried.value && server === undefined && entries.password === "",
  );

  /** @returns id of the server, when it was made or changed */
  async function submit(): Promise<string | undefined> {
    wasTried.value = true;
    if (addressFault(entries.host) !== undefined || lacksPassword.value)
      return undefined;
    const host = entries.host.trim();
    if (server !== undefined && host === server.host && !isTrustLost(server))
      return save(server.fingerprint);
    const looked = await change.run<Probe>("server.probe", { host }, 30_000);
    if (looked === undefined) return undefined;
    probe.value = looked.answer;
    const next = afterProbe(looked.answer, server?.fingerprint);
    if (next === "connect") return save(undefined);
    if (next === "ask") step.value = "certificate";
    return undefined;
  }

  function accept(): Promise<string | undefined> {
    return save(probe.value?.certificate?.fingerprint);
  }

  async function save(
    fingerprint: string | undefined,
  ): Promise<string | undefined> {
    const { host, username, password, label, readOnly } = entries;
    const given = { host: host.trim(), username: username.trim(), label };
    const trust = fingerprint === undefined ? {} : { fingerprint };
    if (server === undefined) {
      const made = await change.run<string>("server.add", {
        ...given,
        password,
        readOnly,
        ...trust,
      });
      if (made === undefined) step.value = "entries";
      return made?.answer;
    }
    const secret = password === "" ? {} : { password };
    const done = await change.run("server.set", {
      id: server.id,
      ...given,
      readOnly,
      ...trust,
      ...secret,
    });
    if (done === undefined) step.value = "entries";
    return done && server.id;
  }

  function useCoordinator(): void {
    entries.host = probe.value?.coordinator ?? entries.host;
    probe.value = undefined;
  }

  function back(): void {
    step.value = "entries";
    probe.value = undefined;
  }

  const willLook = server !== undefined && isTrustLost(server);
  return {
    willLook,
    change,
    entries,
    probe,
    step,
    fault,
    lacksPassword,
    submit,
    accept,
    back,
    useCoordinator,
  };
}

/** A pool whose certificate is the trouble is looked at again. */
function isTrustLost({ error }: ServerRow): boolean {
  return error !== undefined && remedyFor(codeOf(error)) === "certificate";
}
