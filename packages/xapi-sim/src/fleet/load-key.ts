/** Key of a VM's other_config: cores that it uses, until `setLoad` changes it. */
export const LOAD_KEY = "sim:load";
