import { preferredHost, type PlacementScenario } from "./problems.js";

interface CibState {
  /** Number of a host that is offline, when every host runs one of each set; absent: nothing runs, all are online. */
  readonly out?: number;
}

/** Pacemaker's digest of an empty list: else it restarts all, as if their parameters had changed. */
const NO_PARAMETERS = "f2317cad3d54cec5d7d7aa7d0bf35cf8";

/**
 * The scenario for Pacemaker: sets as clones, at most one instance per node; a
 * location for each. Memory is left out: `placement-strategy=utilization` needs
 * more time of Pacemaker (its full plan then takes above ten minutes), and
 * memory never decides here. Agents are named and never run.
 */
export function toCib(
  { hosts, sets }: PlacementScenario,
  { out }: CibState,
): string {
  const nodes = count(hosts, (i) => `<node id="${i + 1}" uname="h${i}"/>`);
  const clones = count(sets, (set) => toClone(set, hosts));
  const locations = count(
    sets,
    (set) =>
      `<rsc_location id="l${set}" rsc="c${set}" node="h${preferredHost(set, hosts)}" score="100"/>`,
  );
  const running = out === undefined ? "" : toLrm(sets);
  const states = count(hosts, (i) => toState(i, i === out, running));
  return [
    '<cib crm_feature_set="3.16.2" validate-with="pacemaker-3.9" epoch="1" num_updates="0" admin_epoch="0" have-quorum="1" dc-uuid="1">',
    '<configuration><crm_config><cluster_property_set id="o"><nvpair id="o-s" name="stonith-enabled" value="false"/></cluster_property_set></crm_config>',
    `<nodes>${nodes}</nodes><resources>${clones}</resources>`,
    `<constraints>${locations}</constraints></configuration>`,
    `<status>${states}</status></cib>\n`,
  ].join("\n");
}

function count(times: number, part: (index: number) => string): string {
  return Array.from({ length: times }, (_, index) => part(index)).join("\n");
}

function toClone(set: number, most: number): string {
  return (
    `<clone id="c${set}"><meta_attributes id="c${set}m">` +
    `<nvpair id="c${set}x" name="clone-max" value="${most}"/>` +
    `<nvpair id="c${set}y" name="clone-node-max" value="1"/></meta_attributes>` +
    `<primitive id="p${set}" class="ocf" provider="pacemaker" type="Dummy"/></clone>`
  );
}

/** One instance of each set has started there. */
function toLrm(sets: number): string {
  return count(sets, (set) => {
    const key = `${set + 1}:1:0:bench`;
    return (
      `<lrm_resource id="p${set}" type="Dummy" class="ocf" provider="pacemaker">` +
      `<lrm_rsc_op id="p${set}_last_0" operation="start" operation_key="p${set}_start_0" ` +
      `call-id="${set + 2}" rc-code="0" op-status="0" interval="0" crm_feature_set="3.16.2" op-digest="${NO_PARAMETERS}" transition-key="${key}" transition-magic="0:0;${key}"/></lrm_resource>`
    );
  });
}

function toState(host: number, isOut: boolean, resources: string): string {
  const [member, online, join] = isOut
    ? ["false", "offline", "down"]
    : ["true", "online", "member"];
  return (
    `<node_state id="${host + 1}" uname="h${host}" in_ccm="${member}" crmd="${online}" join="${join}" expected="${join}">` +
    `<lrm id="${host + 1}"><lrm_resources>${resources}</lrm_resources></lrm></node_state>`
  );
}
