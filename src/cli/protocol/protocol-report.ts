/** What `moirai protocol` prints: for people, and as JSON. */
import { conclusionJson, gapText } from '../../evidence/index.ts';
import { formatHistory } from '../../history/index.ts';
import {
  formatLanes,
  formatSteps,
  type Progress,
  type ProtocolCheckResult,
  type ProtocolFault,
} from '../../protocol/index.ts';
import { formatCount, plain, type ReportData } from '../../report/index.ts';
import { protocolPage, type ProtocolPage } from './protocol-page.ts';
import type { TimelessLevel } from '../../states/index.ts';
import type { appearance } from '../output/style.ts';
import type { Ending } from '../host.ts';

/** What was asked for, as far as the answer names it. */
interface Asked {
  readonly levels: readonly TimelessLevel[];
  readonly simulate: number | null;
  readonly seed: number;
}

export function jsonOf({ trace, ...result }: ProtocolCheckResult, elapsedMs: number): object {
  const { states, generated, depth, complete, violation, reason, symmetry, conclusion, observedMost } = result;
  return {
    states,
    generated,
    depth,
    ...conclusionJson(conclusion),
    complete,
    trace: trace?.steps ?? null,
    violation,
    reason,
    symmetry,
    ends: result.ends,
    observedMost,
    queue: result.queue,
    collisionProbability: result.collisionProbability,
    seconds: elapsedMs / 1_000,
    megabytes: process.resourceUsage().maxRSS / 1_000,
    observed: trace?.observed ? formatHistory(trace.observed) : null,
  };
}

export function formatResult(
  name: string,
  result: ProtocolCheckResult,
  asked: Asked,
  style: ReturnType<typeof appearance>['style'],
): string {
  const { trace } = result;
  const [size, collision] = sizeLines(result);
  const lines = [`${style('name', name)}: ${size}`, collision, verdictLine(result, asked, style)];
  if (trace === null) return lines.join('\n');
  const observed =
    trace.observed === null ? [] : ['', 'what clients observed:', formatHistory(trace.observed).trimEnd()];
  return [...lines, '', ...formatSteps(trace), '', ...formatLanes(trace), ...observed].join('\n');
}

/** How much was searched. */
function sizeLines(result: ProtocolCheckResult): readonly [size: string, collision: string] {
  const { states, generated, depth, symmetry, queue } = result;
  const renamings = symmetry === 1 ? '' : `, up to ${formatCount(symmetry)} renamings`;
  const left = queue > 0 ? `, ${formatCount(queue)} not yet expanded` : '';
  return [
    `${formatCount(states)} distinct states${renamings}, ${formatCount(generated)} generated, depth ${depth}${left}`,
    `a collision of fingerprints, which would hide a state, has probability ${result.collisionProbability.toExponential(1)}`,
  ];
}

/** The same for the HTML report. */
export function pageOf(
  result: ProtocolCheckResult,
  asked: Asked,
  names: Pick<ProtocolPage, 'heading' | 'name'>,
): ReportData {
  return protocolPage(result, { ...names, lines: sizeLines(result), verdict: verdictLine(result, asked, plain) });
}

function verdictLine(
  { conclusion, violation, reason, trace }: ProtocolCheckResult,
  { levels, simulate, seed }: Asked,
  style: ReturnType<typeof appearance>['style'],
): string {
  if (reason === 'runs-limit')
    return style('warning', `unknown: no violation in ${simulate} random behaviours of seed ${seed}`);
  if (conclusion.kind === 'unknown') return style('warning', `unknown: ${conclusion.gaps.map(gapText).join('; ')}`);
  if (violation === null) {
    const at = levels.length === 0 ? '' : `, observed transactions at ${levels.join(', ')}`;
    return style('good', `satisfied in every state${at}`);
  }
  if (violation.kind === 'sometimes') return style('bad', `violated: "${violation.name}" holds in no reachable state`);
  const after = trace === null ? '' : ` after ${trace.steps.length} steps (${trace.states.length} states)`;
  return style(
    'bad',
    `violated${after}: ${violation.kind} ${violation.kind === 'deadlock' ? '' : `"${violation.name}"`}`.trimEnd(),
  );
}

/** The steps to the one at fault; the fault itself is the line after them. */
export function formatFault({ trace }: ProtocolFault): string {
  return trace.steps.length === 0 ? '' : ['the steps that lead there:', ...formatSteps(trace), ''].join('\n');
}

/** A search that was cut off in the middle of a step: the counts of the last report. */
export function cutEnding(name: string, progress: Progress, { json }: { readonly json: boolean }): Ending {
  const { states, generated, depth, queue } = progress;
  const cut = { ...progress, verdict: 'unknown', gaps: ['interrupted'], complete: false, trace: null, violation: null };
  const text = `${name}: at least ${formatCount(states)} distinct states, ${formatCount(generated)} generated, depth ${depth}, ${formatCount(queue)} not yet expanded\nunknown: interrupted`;
  return { out: `${json ? JSON.stringify({ ...cut, reason: 'interrupted' }) : text}\n`, err: '', code: 2 };
}
