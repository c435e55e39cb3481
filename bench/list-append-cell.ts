/** One measurement of `bench/list-append.ts`, in a process of its own so that its memory is its own: node list-append-cell.ts FILE. */
import { createReadStream } from 'node:fs';
import { ListCheck } from '#moirai/check';
import { formatNamed } from '#moirai/history';

const [file = ''] = process.argv.slice(2);
const begin = performance.now();
const chunks = (): AsyncIterable<Uint8Array> => createReadStream(file, { highWaterMark: 2 ** 20 });
const history = await formatNamed('jsonl').read([{ name: file, chunks }]);
const read = performance.now();
const { kind: verdict } = new ListCheck(history).check('strict-serializable');
const end = performance.now();
const megabytes = process.resourceUsage().maxRSS / 1_024;
const { operationCount: operations, lists } = history;
const elements = lists?.element.length ?? 0;
console.log(JSON.stringify({ verdict, operations, elements, readMs: read - begin, checkMs: end - read, megabytes }));
