import { figureOf, type Report, type Result } from "../harness/result.js";
import { atMostMs, type Target } from "../harness/target.js";
import { exponentOfNLogN, fittedExponent, type Point } from "./curve-fit.js";

const FULL_PLAN_MS = 500;
const ONE_OUT_MS = 50;
const ALL_FAILURES_MS = 3_000;
const LARGEST_MS = 10_000;
const MIN_SHARE_PERCENT = 99;
/** Of an exponent: what a machine's caches and noise may do. */
const TOLERANCE = 0.02;

/** Targets of issue 7, compared with the medians. */
export function placementTargets({ results }: Report): Target[] {
  const of = (name: string) => results.find(({ mode }) => mode === name);
  const curve = results.filter(({ place }) => place === "curve");
  return [
    ...["required", "preferred"].flatMap((kind) =>
      scenarioTargets(kind, of(`scenario, ${kind}`)),
    ),
    atMostMs(
      "Full plan of 1,000 hosts and 100,000 VMs",
      LARGEST_MS,
      figureOf(of("curve, 100,000 VMs"), "ms"),
    ),
    growthTarget(curve.filter(({ runs }) => runs > 0)),
    ...qualityTargets(of("quality")),
  ];
}

function scenarioTargets(kind: string, result: Result | undefined): Target[] {
  const ms = (name: string) => figureOf(result, name);
  return [
    atMostMs(`Story, apart is ${kind}: full plan`, FULL_PLAN_MS, ms("ms")),
    atMostMs("one host out, plan repaired", ONE_OUT_MS, ms("repairMs")),
    atMostMs("one host out, failover planned", ONE_OUT_MS, ms("failoverMs")),
    atMostMs("all single failures", ALL_FAILURES_MS, ms("allMs")),
  ];
}

/** Number of VMs and duration in ms, from which the growth is fitted. */
export function pointsOf(curve: readonly Result[]): Point[] {
  return curve.map((result) => ({
    n: figureOf(result, "vms"),
    ms: figureOf(result, "warmMs"),
  }));
}

function growthTarget(curve: readonly Result[]): Target {
  const points = pointsOf(curve);
  const [is, limit] = [fittedExponent(points), exponentOfNLogN(points)];
  const known = Number.isFinite(is);
  return {
    requirement: `Time grows no faster than n log n, which is n^${known ? limit.toFixed(2) : "1.1"} here`,
    measured: known ? `n^${is.toFixed(2)}` : "-",
    met: known ? is <= limit + TOLERANCE : undefined,
  };
}

function qualityTargets(result: Result | undefined): Target[] {
  const missed = figureOf(result, "missed");
  const wrong = figureOf(result, "wrong") + figureOf(result, "calledWrongly");
  const share = figureOf(result, "sharePercent");
  const known = Number.isFinite(missed);
  return [
    {
      requirement:
        "Failovers that can be survived and are called otherwise: none",
      measured: known ? `${missed}` : "-",
      met: known ? missed === 0 : undefined,
    },
    {
      requirement: "Failovers or survivals promised that cannot be: none",
      measured: known ? `${wrong}` : "-",
      met: known ? wrong === 0 : undefined,
    },
    {
      requirement: `Pools that survive as many failures as can be: at least ${MIN_SHARE_PERCENT} %`,
      measured: known ? `${share} %` : "-",
      met: known ? share >= MIN_SHARE_PERCENT : undefined,
    },
  ];
}
