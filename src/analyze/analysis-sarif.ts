/** What `moirai analyze` found as SARIF, which code hosts and editors show beside the lines. OASIS, Static Analysis Results Interchange Format 2.1.0. */
import type { Analysis } from './analyze.ts';
import type { Anomaly } from './anomaly.ts';
import { meaningOf } from './anomaly-meaning.ts';
import { anomalyText, fixText, participants } from './analysis-text.ts';
import type { Place } from './application.ts';
import { changesText } from './changes.ts';
import type { NotUnderstoodPlace } from './transactions.ts';

export interface SarifOptions {
  /** Of moirai. */
  readonly version: string;
  /** Of the programs of the anomalies, then of those of units, in their order; `null`: not written. */
  readonly files: readonly (string | null)[];
}

interface Rule {
  readonly id: string;
  readonly shortDescription: { readonly text: string };
}

interface Result {
  readonly rule: Rule;
  /** Only a confirmed anomaly is an error. */
  readonly level: 'error' | 'warning' | 'note';
  readonly text: string;
  /** The first is where a reader looks first. */
  readonly places: readonly { readonly place: Place; readonly text: string }[];
}

/** A log file with one run. Section numbers are those of the standard. */
export function analysisSarif(analysis: Analysis, { version, files }: SarifOptions): object {
  const results = [
    ...[...analysis.anomalies, ...analysis.unitAnomalies].map((anomaly, at) =>
      anomalyResult(anomaly, files[at] ?? null),
    ),
    ...analysis.notUnderstood.map(notUnderstoodResult),
  ];
  const rules = [...new Map(results.map(({ rule }) => [rule.id, rule])).values()];
  return {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'moirai', version, rules } },
        // 3.14.17: without it, viewers ask the user what a column counts.
        columnKind: 'utf16CodeUnits',
        invocations: [{ executionSuccessful: true }],
        results: results.map((result) => resultJson(result, rules)),
      },
    ],
  };
}

/** 3.27 */
function resultJson({ rule, level, text, places }: Result, rules: readonly Rule[]): object {
  const [first, ...others] = places;
  return {
    ruleId: rule.id,
    ruleIndex: rules.findIndex(({ id }) => id === rule.id),
    level,
    message: { text },
    locations: first === undefined ? [] : [{ ...locationOf(first.place), message: { text: first.text } }],
    ...(others.length === 0
      ? {}
      : {
          relatedLocations: others.map((other, at) => ({
            id: at,
            ...locationOf(other.place),
            message: { text: other.text },
          })),
        }),
  };
}

/** 3.28, 3.29; a URI of a relative path is relative to the root of the sources (3.14.14). */
function locationOf({ file, line }: Place): object {
  const path = file.split('/').map(encodeURIComponent).join('/');
  const artifactLocation = file.startsWith('/') ? { uri: `file://${path}` } : { uri: path, uriBaseId: '%SRCROOT%' };
  return { physicalLocation: { artifactLocation, region: { startLine: line } } };
}

function anomalyResult(anomaly: Anomaly, file: string | null): Result {
  const { name, status, fix, statements } = anomaly;
  const change = fix === null ? [] : [`With ${changesText(fix.changes)}: ${fixText(fix)}.`];
  const program = file === null ? [] : [`To run it: moirai explore ${file}`];
  return {
    rule: { id: name.replaceAll(' ', '-'), shortDescription: { text: meaningOf(name) } },
    level: status.kind === 'confirmed' ? 'error' : 'warning',
    text: [`${name}: ${participants(anomaly)}; ${anomalyText(anomaly)}.`, ...change, ...program].join('\n'),
    places: statements.map(({ place, sql }) => ({ place, text: sql.replaceAll(/\s+/g, ' ').trim() })),
  };
}

function notUnderstoodResult({ place, reason }: NotUnderstoodPlace): Result {
  const rule = {
    id: 'not-understood',
    shortDescription: { text: 'a statement was not understood: nothing is proven about its transaction' },
  };
  return { rule, level: 'note', text: `not understood: ${reason}`, places: [{ place, text: reason }] };
}
