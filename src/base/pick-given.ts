/** The options of these names that are given: data that can be sent to a thread, out of options that also hold functions. */
export function pickGiven<Options extends object, Name extends keyof Options>(
  options: Options,
  names: readonly Name[],
): Pick<Options, Name> {
  const given = names.filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name]])) as Pick<Options, Name>;
}
