/** Small files in the formats of other tools, written by hand after their grammars, and the histories that they stand for. */
import type { HistorySource } from './format.ts';

export interface Sample {
  readonly format: string;
  readonly name: string;
  readonly files: Readonly<Record<string, Uint8Array>>;
  /** In notation, a session a line; lists as `append x 1` and `r x [1]`. */
  readonly told: readonly string[];
}

export function sourcesOf({ files }: Pick<Sample, 'files'>, chunkBytes = 65_536): HistorySource[] {
  return Object.entries(files).map(([name, bytes]) => ({
    name,
    chunks: async function* () {
      for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.slice(at, at + chunkBytes);
    },
  }));
}

const text = (...lines: readonly string[]): Record<string, Uint8Array> => ({
  'h.txt': new TextEncoder().encode(`${lines.join('\n')}\n`),
});

type Part = number | bigint | string | readonly Part[];

/** Numbers are bytes, bigints 64-bit integers, texts bincode's. */
function binary(littleEndian: boolean, parts: readonly Part[]): Uint8Array {
  const bytes: number[] = [];
  const add = (part: Part): void => {
    if (typeof part === 'number') bytes.push(part);
    else if (typeof part === 'bigint') {
      const eight = new DataView(new ArrayBuffer(8));
      eight.setBigInt64(0, part, littleEndian);
      bytes.push(...new Uint8Array(eight.buffer));
    } else if (typeof part === 'string') {
      add(BigInt(part.length));
      bytes.push(...new TextEncoder().encode(part));
    } else part.forEach(add);
  };
  parts.forEach(add);
  return Uint8Array.from(bytes);
}

const event = (write: number, variable: bigint, value: bigint, success: number): Part => [
  write,
  variable,
  value,
  success,
];
const time = '2018-11-05T10:00:00.123456789+00:00';

const bincode = binary(true, [
  [1n, 2n, 2n, 2n, 2n, 'PostgreSQL', time, time],
  [2n],
  // A failed write and a failed read in a transaction that committed: neither happened.
  [2n, [3n, event(1, 0n, 5n, 1), event(1, 1n, 9n, 0), event(0, 1n, 0n, 0), 1], [1n, event(0, 0n, 5n, 1), 1]],
  // An aborted transaction: its writes are known, its reads are no evidence.
  [2n, [2n, event(1, 0n, 6n, 1), event(0, 0n, 5n, 1), 0], [1n, event(0, 1n, 0n, 1), 1]],
]);

const [S, C, W, R] = [0x53, 0x43, 0x57, 0x52];
const large = 0x0a50d7ca2bd05f5cn;

const cobraLogs = (times: boolean): Record<string, Uint8Array> => {
  const at: Part = times ? [1_600_000_000_000_000_000n] : [];
  return {
    'T0.log': binary(false, [
      [S, 1n, at, W, 7n, -3n, 100n, R, 0xbebeebeen, 0xbebeebeen, 4n, 0n, C, 1n, at],
      [S, 2n, at, R, 0x23332333n, 0x23332333n, -3n, 0n, W, large, 4n, 100n, C, 2n, at],
    ]),
    'T1.log': binary(false, [
      S,
      3n,
      at,
      R,
      1n,
      7n,
      -3n,
      100n,
      R,
      2n,
      large,
      4n,
      0n,
      R,
      0n,
      0xdeadbeefn,
      5n,
      0n,
      C,
      3n,
      at,
    ]),
  };
};
const cobraTold = ['w -3 7, r 4 _ | w 4 "743331201834573660"', 'r -3 7, r 4 "743331201834573660", r 5 _'];

export const samples: readonly Sample[] = [
  {
    format: 'plume',
    name: 'interleaved sessions, an aborted write, the initial value',
    files: text('w(0,1,1,1)', 'r(1,0,2,5)', 'w(0,2,1,1)', 'r(0,2,1,3)', 'w(7,5,2,-1)', 'w(1,9007199254740993,2,5)'),
    told: ['initial {"0":0,"1":0,"7":0}', 'w 0 1, w 0 2 | r 0 2', 'r 1 0, w 1 "9007199254740993" | w 7 5 !'],
  },
  {
    format: 'plume',
    name: 'a transaction that writes the initial values',
    files: text('w(0,0,0,0)', 'w(1,0,0,0)', 'r(0,0,1,1)', 'w(1,3,1,1)'),
    told: ['initial {"0":0,"1":0}', 'r 0 0, w 1 3'],
  },
  {
    format: 'plume',
    name: 'a transaction of zeros that is not alone in its session',
    files: text('w(0,0,0,0)', 'r(1,0,0,2)', 'w(0,1,1,1)', 'r(0,0,1,3)'),
    told: ['initial {"0":0,"1":0}', 'w 0 0 | r 1 0', 'w 0 1 | r 0 0'],
  },
  {
    format: 'dbcop',
    name: 'failed events and an aborted transaction',
    files: { 'history.bincode': bincode },
    told: ['initial {"0":0,"1":0}', 'w 0 5 | r 0 5', 'w 0 6 ! | r 1 0'],
  },
  {
    format: 'dbcop-json',
    name: 'sessions alone',
    files: text(
      '[[{"events":[{"Write":{"variable":0,"version":1}},{"Read":{"variable":1,"version":null}}],"committed":true},',
      ' {"events":[{"Write":{"variable":1,"version":2}}],"committed":false}],',
      ' [{"committed":true,"events":[{"Read":{"variable":0,"version":1}}]}]]',
    ),
    told: ['w 0 1, r 1 _ | w 1 2 !', 'r 0 1'],
  },
  {
    format: 'dbcop-json',
    name: 'with parameters',
    files: text(
      '{"params":{"id":0,"n_node":1},"info":"generated","start":"2025-01-01T00:00:00Z","end":"2025-01-01T00:00:00Z",',
      '"data":[[{"events":[{"Write":{"variable":0,"version":18446744073709551615}}],"committed":true}],[]]}',
    ),
    told: ['w 0 "18446744073709551615"'],
  },
  {
    format: 'dbcop-hist',
    name: 'the write skew of its documentation',
    files: text('// Session 1', '[x:=1 y:=2] [y==2 x:=3]', '---', '// Session 2', '[x==1 y:=4]!', '[z==?]'),
    told: ['w x 1, w y 2 | r y 2, w x 3', 'r x 1, w y 4 ! | r z _'],
  },
  {
    format: 'awdit',
    name: 'initial writes in a session of their own',
    files: text('w 0 0', 'w 1 0', '=====', 'r 0 0', 'w 1 2', '-----', 'w 1 4', '=====', 'r 1 2'),
    told: ['initial {"0":0,"1":0}', 'r 0 0, w 1 2 | w 1 4', 'r 1 2'],
  },
  {
    format: 'awdit',
    name: 'a transaction of zeros that is not alone in its session',
    files: text('r 1 1', '-----', 'w 0 0', '=====', 'r 0 0', '-----', 'w 1 1', '=====', 'w 1 0', '-----', 'r 0 0'),
    told: ['r 1 1 | w 0 0', 'r 0 0 | w 1 1', 'w 1 0 | r 0 0'],
  },
  { format: 'cobra', name: 'two sessions', files: cobraLogs(false), told: cobraTold },
  { format: 'cobra', name: 'with times', files: cobraLogs(true), told: cobraTold },
  {
    format: 'viper',
    name: 'deletes, range reads and 64-bit versions',
    files: {
      'J0.log': new TextEncoder().encode('{"value":[["w",1,100],["i",2,101]],"isInitial":true}\n'),
      'J1.log': new TextEncoder().encode(
        '{"value": [["r", 1, 100, false], ["w", 1, -5777522737576889750, true]]}\n{"value": [["d", 2, 102]]}\n',
      ),
      'J2.log': new TextEncoder().encode(
        '[{"value": [["range", 0, "nil", [{"id": 1, "val": -5777522737576889750}], [{"id": 2, "val": 102}]], ["r", 3, "nil", true]]}]',
      ),
    },
    told: [
      'initial {"1":100,"2":101}',
      'r 1 100, w 1 "-5777522737576889750" | w 2 102',
      'r 1 "-5777522737576889750", r 2 102, r 3 _',
    ],
  },
  {
    format: 'chronos',
    name: 'registers, out of order',
    files: text(
      '[{"tid":68,"sid":19,"sts":{"p":"1691420095436350","l":0},"cts":{"p":1691420095436350,"l":1},"ops":[{"t":"r","k":7,"v":2}]},',
      '{"tid":67,"sid":19,"sts":{"p":1691420095436341,"l":61},"cts":{"p":1691420095436349},"ops":[{"t":"w","k":7,"v":2},{"t":"r","k":8}]}]',
    ),
    told: ['w 7 2, r 8 _ | r 7 2'],
  },
  {
    format: 'chronos',
    name: 'lists',
    files: text(
      '[{"tid":1,"sid":1,"sts":{"p":1,"l":0},"cts":{"p":2,"l":0},"ops":[{"t":"a","k":7,"v":2}]},',
      '{"tid":2,"sid":2,"sts":{"p":3,"l":0},"cts":{"p":3,"l":0},"ops":[{"t":"r","k":7,"v":[2]},{"t":"r","k":8,"v":[]},{"t":"a","k":8,"v":1}]}]',
    ),
    told: ['append 7 2', 'r 7 [2], r 8 [], append 8 1'],
  },
  {
    format: 'elle-edn',
    name: 'list-append with all that EDN has',
    files: text(
      '; a comment with a ( in it',
      '{:type :invoke, :process 0, :f :txn, :value [[:append :x 1] [:r :x nil]], :index 0, :time 10}',
      '{:type :invoke, :process 1, :f :txn, :value [[:append :x 2]]}',
      '{:type :info, :process :nemesis, :f :kill, :value #{"n1" "n2"}}',
      '{:type :ok, :process 0, :f :txn, :value [[:append :x 1] [:r :x [1]] [:r :y nil]], :latency 1/3, :at #inst "2020-01-01" :c \\(}',
      '{:type :fail, :process 1, :f :txn, :value [[:append :x 2]], :error [:abort "no ] \\" there"]}',
      '#jepsen.history.Op{:type :invoke, :process 2, :value [[:append :x 3] [:r :x nil]]}',
      '{:type :info, :process 2, :value [[:append :x 3] [:r :x nil]], :error :timeout}',
      '{:type :invoke :process 3 :value [[:append "x" 4]]} #_{:type :ignored}',
      '{:type :ok :value [[:r :x]]}',
    ),
    told: ['append x 1, r x [1], r y _', 'append x 2 !', 'append x 3 ?', '', 'append text x 4 ?'],
  },
  {
    format: 'elle-edn',
    name: 'rw-register in one vector, without processes',
    files: text(
      '[{:type :ok, :value [[:w 1 12345678901234567890] [:r 2 nil]]}',
      ' {:type :ok, :value ((:r 1 12345678901234567890N))}]',
    ),
    told: ['w 1 "12345678901234567890", r 2 _', 'r 1 "12345678901234567890"'],
  },
  {
    format: 'elle-json',
    name: 'an array',
    files: text(
      '[{"index":0,"process":0,"type":"invoke","f":"txn","value":[["w","x",1]]},',
      ' {"index":1,"process":0,"type":"ok","f":"txn","value":[["w","x",1]]},',
      ' {"index":2,"process":"nemesis","type":"info","f":"start","value":null},',
      ' {"index":3,"process":1,"type":":ok","f":":txn","value":[["r","x",1],[":r",1,null]]}]',
    ),
    told: ['w x 1', 'r x 1, r 1 _'],
  },
  {
    format: 'elle-json',
    name: 'lines of list-append',
    files: text(
      '{"type":"ok","process":0,"value":[["append","x",1]]}',
      '{"type":"ok","process":1,"value":[["r","x",[1]],["append","x",2],["r","x",[1,2]]]}',
    ),
    told: ['append x 1', 'r x [1], append x 2, r x [1,2]'],
  },
];
