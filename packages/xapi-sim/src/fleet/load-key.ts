/** Key of a VM's other_config: cores that it keeps busy, until `setLoad` says otherwise. */
export const LOAD_KEY = "sim:load";
