import { XoError } from "@xo-server/model";
import { checkAudit, holdsAuditSecret } from "./check-audit.js";
import { checkTelemetry } from "./check-telemetry.js";
import { checkAuth } from "./check-auth.js";
import { checkHttp, checkNetworks } from "./check-http.js";
import { checkSignIn, holdsSignInSecret } from "./check-sign-in.js";
import { Config } from "./config.js";
import {
  currentEnvironment,
  findConfigFile,
  type ConfigFile,
  type Environment,
} from "./config-file.js";
import { toDottedPath } from "../validation/schema-problem.js";
import { toConfigProblems, type ConfigProblem } from "./config-problem.js";
import { deepFreeze } from "./deep-freeze.js";
import { findRenamedKeys } from "./renamed-keys.js";
import type { PoolConfig } from "./pool-config.js";
import { validate } from "./validate-config.js";

/** Options of the command line, which take precedence over the file. */
export interface ConfigOverrides {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly dataDir?: string | undefined;
  readonly logFormat?: string | undefined;
  readonly logLevel?: string | undefined;
}

export interface LoadedConfig {
  /** Complete with defaults, validated and deeply frozen. */
  readonly config: Config;
  /** Path of the file; undefined: no file, all defaults. */
  readonly path: string | undefined;
  /** Warnings for the log. */
  readonly warnings: readonly string[];
}

/**
 * Reads the config, once per process.
 * @throws XoError CONFIG_INVALID; `data.problems` has one line per problem
 */
export function loadConfig(
  named?: string,
  overrides: ConfigOverrides = {},
  environment: Environment = currentEnvironment(),
): LoadedConfig {
  const file = findConfigFile(named, environment);
  const content = applyOverrides(
    structuredClone(file?.content ?? {}),
    overrides,
  );
  const renamed = findRenamedKeys(content);
  const problems = renamed.length > 0 ? renamed : check(content);
  if (problems.length > 0) throw toError(problems, file, overrides);
  return {
    config: deepFreeze(content as Config),
    path: file?.path,
    warnings: file === undefined ? [] : warningsAbout(file, content as Config),
  };
}

const overridable: readonly {
  readonly name: keyof ConfigOverrides;
  readonly option: string;
  readonly path: readonly string[];
}[] = [
  { name: "host", option: "--host", path: ["http", "host"] },
  { name: "port", option: "--port", path: ["http", "port"] },
  { name: "dataDir", option: "--data", path: ["dataDir"] },
  { name: "logFormat", option: "--log-format", path: ["log", "format"] },
  { name: "logLevel", option: "--log-level", path: ["log", "level"] },
];

function applyOverrides(content: unknown, overrides: ConfigOverrides): unknown {
  if (!isGroup(content)) return content;
  for (const { name, path } of overridable) {
    const value = overrides[name];
    if (value !== undefined) setIn(content, path, value);
  }
  return content;
}

function setIn(
  group: Record<string, unknown>,
  [key, ...rest]: readonly string[],
  value: unknown,
): void {
  if (rest.length === 0) {
    group[key!] = value;
    return;
  }
  // Values that are not sections are reported by the validation.
  const inner = (group[key!] ??= {});
  if (isGroup(inner)) setIn(inner, rest, value);
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Adds defaults. @returns all problems */
function check(content: unknown): ConfigProblem[] {
  if (!validate(content)) return toConfigProblems(validate.errors ?? []);
  const { audit, auth, http, imports, ldap, oidc, saml, pools, telemetry } =
    content as Config;
  return [
    ...checkAuth(auth),
    ...checkHttp(http),
    ...checkNetworks(imports.networks, ["imports", "networks"]),
    ...checkAudit(audit),
    ...checkTelemetry(telemetry),
    ...checkSignIn({ ldap, oidc, saml }),
    ...pools.flatMap((pool, index) => checkPool(pool, ["pools", index])),
  ];
}

type CheckedPool = Config["pools"][number];

/** Checks of a pool that a schema cannot express. */
function checkPool(
  pool: CheckedPool,
  path: readonly (string | number)[],
): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const ways = (
    ["password", "passwordFile", "passwordEnv"] satisfies (keyof PoolConfig)[]
  ).filter((key) => pool[key] !== undefined);
  if (ways.length !== 1) {
    problems.push({
      path,
      reason: `needs exactly one of password, passwordFile and passwordEnv, not ${ways.length === 0 ? "none" : ways.join(" and ")}`,
    });
  }
  const pinned = pool.tls.trust === "fingerprint";
  if (pinned !== (pool.tls.fingerprint !== undefined)) {
    problems.push({
      path: [...path, "tls"],
      reason: pinned
        ? "trust: fingerprint requires a fingerprint"
        : "fingerprint requires trust: fingerprint",
    });
  }
  return problems;
}

function toError(
  problems: readonly ConfigProblem[],
  file: ConfigFile | undefined,
  overrides: ConfigOverrides,
): XoError {
  const lineOf = ({ path }: ConfigProblem) => file?.lineOf(path) ?? 0;
  const byLine = problems.toSorted((a, b) => lineOf(a) - lineOf(b));
  const located = byLine.map((problem) => {
    const where = whereIs(problem, file, overrides);
    const key = toDottedPath(problem.path);
    // The reason of an unknown key contains its name.
    const reason = problem.reason.startsWith("unknown key")
      ? problem.reason
      : `${key} ${problem.reason}`.trim();
    return { where, reason };
  });
  return new XoError("CONFIG_INVALID", {
    ...located[0]!,
    problems: located.map(({ where, reason }) => `${where}: ${reason}`),
  });
}

function whereIs(
  problem: ConfigProblem,
  file: ConfigFile | undefined,
  overrides: ConfigOverrides,
): string {
  const override = overridable.find(
    ({ name, path }) =>
      overrides[name] !== undefined &&
      path.join(".") === problem.path.join("."),
  );
  if (override !== undefined) return override.option;
  return file === undefined
    ? "config"
    : `${file.path}:${file.lineOf(problem.path)}`;
}

function warningsAbout(file: ConfigFile, config: Config): string[] {
  const holdsPassword =
    config.pools.some((pool) => pool.password !== undefined) ||
    holdsSignInSecret(config) ||
    holdsAuditSecret(config.audit) ||
    config.telemetry.token !== "" ||
    /^postgres(ql)?:\/\/[^/@]*:[^/@]+@/.test(config.store.location);
  return holdsPassword && file.readableByOthers
    ? [
        `${file.path} contains passwords and is readable by other users; run: chmod 600 ${file.path}`,
      ]
    : [];
}
