import { computed, reactive, ref, shallowRef } from "vue";
import { useChange, type Change } from "../../forms/use-change.js";
import { addressInputError, afterProbe, type Probe } from "./probe.js";
import { codeOf, remedyFor, type ServerRow } from "./server-row.js";

/** Values of the form fields. */
interface PoolEntries {
  host: string;
  username: string;
  password: string;
  label: string;
  readOnly: boolean;
}

/**
 * Adds or edits a server: probes the host, lets the user accept its certificate,
 * and only then sends the password.
 * @param server absent: a new one
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
  /** Input errors are shown after the first submit. */
  const wasTried = ref(false);

  const inputError = computed(() =>
    wasTried.value ? addressInputError(entries.host) : undefined,
  );
  const lacksPassword = computed(
    () => wasTried.value && server === undefined && entries.password === "",
  );

  /** @returns id of the server that was created or changed */
  async function submit(): Promise<string | undefined> {
    wasTried.value = true;
    if (addressInputError(entries.host) !== undefined || lacksPassword.value)
      return undefined;
    const host = entries.host.trim();
    if (server !== undefined && host === server.host && !isTrustLost(server))
      return save(server.fingerprint);
    const probed = await change.run<Probe>("server.probe", { host }, 30_000);
    if (probed === undefined) return undefined;
    probe.value = probed.answer;
    const next = afterProbe(probed.answer, server?.fingerprint);
    if (next === "connect") return save(undefined);
    if (next === "confirm") step.value = "certificate";
    return undefined;
  }

  function accept(): Promise<string | undefined> {
    return save(probe.value?.certificate?.fingerprint);
  }

  async function save(
    fingerprint: string | undefined,
  ): Promise<string | undefined> {
    const id = await saveServer(change, server, entries, fingerprint);
    if (id === undefined) step.value = "entries";
    return id;
  }

  function useCoordinator(): void {
    entries.host = probe.value?.coordinator ?? entries.host;
    probe.value = undefined;
  }

  function back(): void {
    step.value = "entries";
    probe.value = undefined;
  }

  const willProbe = server !== undefined && isTrustLost(server);
  return {
    willProbe,
    change,
    entries,
    probe,
    step,
    inputError,
    lacksPassword,
    submit,
    accept,
    back,
    useCoordinator,
  };
}

/** @returns id of the server; undefined: the call failed */
async function saveServer(
  change: Change,
  server: ServerRow | undefined,
  entries: PoolEntries,
  fingerprint: string | undefined,
): Promise<string | undefined> {
  const { host, username, password, label, readOnly } = entries;
  const properties = {
    host: host.trim(),
    username: username.trim(),
    label,
    readOnly,
    ...(fingerprint === undefined ? {} : { fingerprint }),
  };
  if (server === undefined)
    return (await change.run<string>("server.add", { ...properties, password }))
      ?.answer;
  const saved = await change.run("server.set", {
    id: server.id,
    ...properties,
    ...(password === "" ? {} : { password }),
  });
  return saved && server.id;
}

/** Whether the certificate is no longer trusted, so that the host must be probed again. */
function isTrustLost({ error }: ServerRow): boolean {
  return error !== undefined && remedyFor(codeOf(error)) === "certificate";
}
