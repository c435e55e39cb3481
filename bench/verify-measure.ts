/** Runs a cell of the verifier's benchmark in a process of its own, and puts what it says into columns. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface VerifyCell {
  readonly ms: number;
  /** Of the processor, in user mode: what other processes do disturbs it less. */
  readonly cpuMs: number;
  readonly megabytes: number;
  readonly violations: number;
  readonly operations?: number;
  readonly deduced?: number;
  readonly uncertain?: number;
  readonly kept?: number;
}

/** Seconds, processor seconds, operations in one of these, peak memory. */
export function costs({ ms, cpuMs, megabytes }: VerifyCell, operations: number): string[] {
  const rate = String(Math.round((1_000 * operations) / cpuMs));
  return [(ms / 1_000).toFixed(2), (cpuMs / 1_000).toFixed(2), rate, megabytes.toFixed(0)];
}

/** How many of the dependencies overlaps leave open: Fig. 12. */
export function shareOf({ deduced, uncertain }: VerifyCell): string {
  if (deduced === undefined || uncertain === undefined) return '';
  return `${((100 * uncertain) / Math.max(1, deduced + uncertain)).toFixed(3)} %`;
}

/** @throws where a trace that has no violation has one */
export function measure(args: readonly string[]): VerifyCell {
  const script = fileURLToPath(new URL('verify-cell.ts', import.meta.url));
  const text = execFileSync(process.execPath, ['--import', 'tsx', script, ...args], { encoding: 'utf8' });
  const cell = JSON.parse(text) as VerifyCell;
  if (cell.violations > 0) throw new Error(`${args.join(' ')}: ${cell.violations} violations in a trace that has none`);
  return cell;
}
