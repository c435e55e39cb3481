/** `moirai analyze --fix`: the smallest changes as a patch of the source, each proven, the whole analyzed again. */
import {
  sourceEdits,
  unifiedPatch,
  applicationFromSource,
  type SourceOptions,
  type Analysis,
  analyze,
  type AnalyzeOptions,
  type Anomaly,
  changeText,
  participants,
  type Place,
  type Unit,
} from '../../analyze/index.ts';
import { conclude } from '../../evidence/index.ts';
import type { Host } from '../host.ts';
import { shellWord } from '../options/invocation.ts';

/** @returns what is found in the source as it is with the patch; where none is made, what was found */
export async function fixSource(
  {
    source,
    units,
    analysis,
    options,
    writes,
  }: {
    readonly source: SourceOptions;
    /** Those that were analyzed. */
    readonly units: readonly Unit[];
    readonly analysis: Analysis;
    readonly options: AnalyzeOptions;
    /** Is the source changed? Otherwise the patch is printed. */
    readonly writes: boolean;
  },
  host: Host,
): Promise<Analysis> {
  // Explored before and after: what is only possible has not run.
  const proven = analysis.anomalies.filter(({ status, fix }) => status.kind === 'confirmed' && fix?.isProven === true);
  const changes = proven.flatMap(({ fix }) => fix?.changes ?? []);
  const placeOf = (name: string): Place | undefined => analysis.transactions.find((one) => one.name === name)?.place;
  const { files, refused } = sourceEdits(source.ts, source.files, changes, placeOf);
  for (const { change, reason } of refused)
    host.err(`not in the patch: ${change.transaction}: ${changeText(change)}: ${reason}\n`);
  for (const anomaly of analysis.anomalies)
    if (!proven.includes(anomaly))
      host.err(
        `not in the patch: ${participants(anomaly)}: ${anomaly.status.kind === 'possible' ? 'the anomaly is not confirmed' : 'no change is proven'}\n`,
      );
  for (const anomaly of analysis.unitAnomalies)
    host.err(`not in the patch: ${participants(anomaly)}: one transaction around a unit is not written\n`);
  if (files.size === 0) return analysis;
  const patched = applicationFromSource({ ...source, files: new Map([...source.files, ...files]) });
  const names = new Set(units.map(({ name }) => name));
  const kept = patched.units.filter(({ name }) => names.has(name));
  const after = await analyze({ ...patched, units: kept }, options);
  const untouched = new Set(refused.map(({ change }) => change.transaction));
  const mended = proven.filter(
    (one) =>
      !setsOf(one)
        .flat()
        .some((name) => untouched.has(name)),
  );
  const still = after.anomalies.filter((left) => mended.some((anomaly) => isOfSame(left, anomaly)));
  if (still.length > 0 || after.notUnderstood.length > analysis.notUnderstood.length) {
    const why = still.length > 0 ? `${still.map(participants).join('; ')} would be left` : 'less would be understood';
    host.err(`no patch: ${why}\n`);
    return analysis;
  }
  for (const [file, text] of files) {
    if (writes) await host.writeOutput(file, [new TextEncoder().encode(text)]);
    else host.out(unifiedPatch(file, source.files.get(file) ?? '', text));
  }
  const changedFiles = [...files.keys()].map(shellWord).join(' ');
  host.err(`${writes ? `changed ${changedFiles}` : 'with this patch'}: ${resultText(after)}\n`);
  const [raised] = changes.flatMap((one) => (one.kind === 'level' && !untouched.has(one.transaction) ? [one] : []));
  if (raised !== undefined)
    host.err(`a transaction at the raised level must be tried again after error ${raised.retryOn}\n`);
  return after;
}

function isOfSame(a: Anomaly, b: Anomaly): boolean {
  const texts = new Set(setsOf(a).map(textOf));
  return setsOf(b).some((names) => texts.has(textOf(names)));
}

function setsOf({ transactions, alike }: Anomaly): readonly (readonly string[])[] {
  return [transactions, ...alike];
}

function textOf(names: readonly string[]): string {
  return names.toSorted().join('\n');
}

function resultText({ anomalies, evidence }: Analysis): string {
  if (anomalies.length > 0)
    return anomalies.map((anomaly) => `${anomaly.name} is left: ${participants(anomaly)}`).join('; ');
  const conclusion = conclude(evidence);
  return conclusion.kind === 'satisfied' ? 'robust' : 'no anomaly; not all was understood';
}
