/** The first page of the VM list, as the web page requests it. */
export const VM_LIST = {
  type: "VM",
  sort: [{ by: "name_label" }],
  limit: 24,
  fields: ["name_label", "power_state", "CPUs", "memory", "$container"],
};
