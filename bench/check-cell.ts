/** One measurement of `bench/check.ts`, in a process of its own so that its memory is its own: node check-cell.ts FILE LEVEL. */
import { openSync, readSync } from 'node:fs';
import { checkCompact, type CompactLevel, readsOf } from '#moirai/check';
import { BinaryHistoryReader } from '#moirai/history';

const [file = '', level = ''] = process.argv.slice(2);
const reader = new BinaryHistoryReader();
const descriptor = openSync(file, 'r');
const chunk = new Uint8Array(1 << 20);
const next = (): number => readSync(descriptor, chunk, 0, chunk.length, null);
for (let size = next(); size > 0; size = next()) reader.push(chunk.subarray(0, size));
const history = reader.finish();
const start = performance.now();
const reads = readsOf(history);
const resolved = performance.now();
const verdict = checkCompact(history, level as CompactLevel, { reads });
const end = performance.now();
const megabytes = process.resourceUsage().maxRSS / 1_024;
console.log(JSON.stringify({ verdict: verdict.kind, readsMs: resolved - start, checkMs: end - resolved, megabytes }));
