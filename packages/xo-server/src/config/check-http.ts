import type { Config } from "./config.js";
import type { ConfigProblem } from "./config-problem.js";
import { toNetwork } from "./network.js";

/** What the schema cannot say. */
export function checkHttp({
  tls,
  trustedProxies,
}: Config["http"]): ConfigProblem[] {
  return [...checkTls(tls), ...checkProxies(trustedProxies)];
}

function checkTls(tls: Config["http"]["tls"]): ConfigProblem[] {
  const path = ["http", "tls"];
  const hasOwn = tls.certificate !== "" || tls.key !== "";
  const problems: ConfigProblem[] = [];
  const wrong = (key: string, reason: string) =>
    problems.push({ path: [...path, key], reason });
  if (hasOwn && tls.key === "") wrong("key", "is missing: the certificate's");
  if (hasOwn && tls.certificate === "")
    wrong("certificate", "is missing: there is only a key");
  if (hasOwn && tls.selfSigned)
    wrong("selfSigned", "is true, but there is a certificate");
  if (!hasOwn && !tls.selfSigned && tls.redirectPort !== 0)
    wrong("redirectPort", "is set, but there is no certificate");
  if (!hasOwn && tls.hstsSeconds !== 0)
    wrong("hstsSeconds", "needs a certificate of your own");
  return problems;
}

function checkProxies(list: readonly string[]): ConfigProblem[] {
  return list.flatMap((text, index) =>
    toNetwork(text) === undefined
      ? [
          {
            path: ["http", "trustedProxies", index],
            reason: `must be an address or a network such as 10.0.0.0/8, not ${text}`,
          },
        ]
      : [],
  );
}
