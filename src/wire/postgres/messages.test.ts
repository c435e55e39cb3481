import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WireError } from '../wire-error.ts';
import {
  beginDataRow,
  decodeBackend,
  decodeFrontend,
  decodePassword,
  decodeSaslInitialResponse,
  decodeStartup,
  encodeBackend,
  encodeFrontend,
  encodePassword,
  encodeSaslInitialResponse,
  encodeStartup,
  type Frame,
  FrameSplitter,
  md5Password,
  MessageWriter,
} from './index.ts';
import {
  backendKinds,
  backendMessage,
  backendOfKind,
  frontendKinds,
  frontendMessage,
  frontendOfKind,
  startupPacket,
} from './messages.test-support.ts';

function bytesOf<Message>(
  encode: (writer: MessageWriter, message: Message) => void,
  ...messages: Message[]
): Uint8Array {
  const writer = new MessageWriter();
  for (const message of messages) encode(writer, message);
  return writer.take();
}

function framesOf(bytes: Uint8Array): Frame[] {
  const splitter = new FrameSplitter();
  splitter.push(bytes);
  return takeAll(splitter);
}

function takeAll(splitter: FrameSplitter): Frame[] {
  const frames: Frame[] = [];
  for (let frame = splitter.takeFrame(); frame !== undefined; frame = splitter.takeFrame()) frames.push(frame);
  return frames;
}

describe('every message comes back from its bytes', () => {
  test.each(frontendKinds)('frontend %s', (kind) => {
    fc.assert(
      fc.property(frontendOfKind(kind), (message) => {
        const [frame, ...more] = framesOf(bytesOf(encodeFrontend, message));
        expect(more).toEqual([]);
        expect(decodeFrontend(frame as Frame)).toEqual(message);
      }),
    );
  });

  test.each(backendKinds)('backend %s', (kind) => {
    fc.assert(
      fc.property(backendOfKind(kind), (message) => {
        const [frame, ...more] = framesOf(bytesOf(encodeBackend, message));
        expect(more).toEqual([]);
        expect(decodeBackend(frame as Frame)).toEqual(message);
      }),
    );
  });

  test('packets of the start-up', () => {
    fc.assert(
      fc.property(startupPacket, (packet) => {
        const splitter = new FrameSplitter();
        splitter.push(bytesOf(encodeStartup, packet));
        expect(decodeStartup(splitter.takeStartup() as Buffer)).toEqual(packet);
        expect(splitter.bufferedBytes).toBe(0);
      }),
    );
  });

  test('answers to password requests', () => {
    expect(decodePassword(encodePassword('pässword'))).toBe('pässword');
    for (const response of [
      { mechanism: 'SCRAM-SHA-256', data: Buffer.from('n,,n=,r=abc') },
      { mechanism: 'PLAIN', data: null },
    ]) {
      expect(decodeSaslInitialResponse(encodeSaslInitialResponse(response))).toEqual(response);
    }
  });
});

describe('the bytes are those of the manual', () => {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  const plain = (spaced: string): string => spaced.replaceAll(' ', '');
  test.each([
    ['query', { kind: 'query', sql: 'a' }, '5100000006 6100'],
    ['sync', { kind: 'sync' }, '5300000004'],
    ['describe', { kind: 'describe', target: 'portal', name: '' }, '44000000065000'],
    ['execute', { kind: 'execute', portal: '', rowsMax: 5 }, '45000000090000000005'],
    [
      'bind',
      {
        kind: 'bind',
        portal: '',
        statement: 's',
        parameterFormats: [1],
        values: [null, Buffer.from('x')],
        resultFormats: [],
      },
      '4200000018 00 7300 00010001 0002 ffffffff 0000000178 0000',
    ],
  ] as const)('%s', (_name, message, expected) => expect(hex(bytesOf(encodeFrontend, message))).toBe(plain(expected)));

  test('ready for query, data row, an error', () => {
    expect(hex(bytesOf(encodeBackend, { kind: 'ready-for-query', status: 'failed' }))).toBe('5a0000000545');
    const row = { kind: 'data-row', values: [Buffer.from('42'), null] } as const;
    expect(hex(bytesOf(encodeBackend, row))).toBe('44000000100002000000023432ffffffff');
    const error = { kind: 'error-response', fields: { severity: 'ERROR', code: '42601' } } as const;
    expect(hex(bytesOf(encodeBackend, error))).toBe(plain('4500000013 534552524f5200 43343236303100 00'));
  });

  test('start-up 3.0, SSLRequest', () => {
    const packet = { kind: 'startup', major: 3, minor: 0, parameters: new Map([['user', 'u']]) } as const;
    expect(hex(bytesOf(encodeStartup, packet))).toBe(plain('00000010 00030000 7573657200 7500 00'));
    expect(hex(bytesOf(encodeStartup, { kind: 'ssl-request' } as const))).toBe(plain('00000008 04d2162f'));
  });

  test('an MD5 password, against md5sum', () => {
    const expected = 'md5850be429f1fe77df3f603ac424abb440';
    expect(md5Password('secret', 'joe', Buffer.from([1, 2, 3, 4]))).toBe(expected);
  });
});

describe('frames', () => {
  test('are the same however the stream is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(frontendMessage), { minLength: 1, maxLength: 8 }),
        fc.array(fc.nat(400), { maxLength: 12 }),
        (messages, cuts) => {
          const bytes = bytesOf(encodeFrontend, ...messages);
          const places = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
          const splitter = new FrameSplitter();
          const frames: Frame[] = [];
          for (let i = 1; i < places.length; i++) {
            splitter.push(bytes.subarray(places[i - 1], places[i]));
            frames.push(...takeAll(splitter));
          }
          // Decoded at the end: the views must not have been overwritten by what came later.
          expect(frames.map(decodeFrontend)).toEqual(messages);
        },
      ),
    );
  });

  test('every cut in two, and byte by byte, of what a server sends', () => {
    const messages = fc.sample(backendMessage, { numRuns: 12, seed: 7 });
    const bytes = bytesOf(encodeBackend, ...messages);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const splitter = new FrameSplitter();
      splitter.push(bytes.subarray(0, cut));
      const frames = takeAll(splitter);
      splitter.push(bytes.subarray(cut));
      frames.push(...takeAll(splitter));
      expect(frames.map(decodeBackend)).toEqual(messages);
    }
    const splitter = new FrameSplitter();
    const frames: Frame[] = [];
    for (const byte of bytes) {
      splitter.push(Uint8Array.of(byte));
      frames.push(...takeAll(splitter));
    }
    expect(frames.map(decodeBackend)).toEqual(messages);
  });

  test('the answer to an SSLRequest is one byte', () => {
    const splitter = new FrameSplitter();
    expect(splitter.takeByte()).toBeUndefined();
    splitter.push(Buffer.from('N'));
    expect(splitter.takeByte()).toBe('N'.charCodeAt(0));
    expect(splitter.takeByte()).toBeUndefined();
  });

  test('a frame at the limit passes, one byte more does not', () => {
    const frame = (length: number): Uint8Array => {
      const bytes = Buffer.alloc(length + 1, 'x');
      bytes.writeInt32BE(length, 1);
      return bytes;
    };
    const splitter = new FrameSplitter({ frameBytesMax: 100 });
    splitter.push(frame(100));
    expect(splitter.takeFrame()?.body).toHaveLength(96);
    // The header is enough: nothing is kept of a frame that will not be taken.
    splitter.push(frame(101).subarray(0, 5));
    expect(() => splitter.takeFrame()).toThrow(
      "a frame of type 'x' of 101 bytes is over the limit frameBytesMax = 100",
    );
  });

  test('a start-up packet of more than 10,000 bytes', () => {
    const splitter = new FrameSplitter();
    splitter.push(Buffer.from([0, 0, 0x27, 0x11]));
    expect(() => splitter.takeStartup()).toThrow('startupBytesMax = 10000');
  });

  test.each([0, 3, -1, -0x80000000])('a length of %d', (length) => {
    const splitter = new FrameSplitter();
    const bytes = Buffer.from('Q0000');
    bytes.writeInt32BE(length, 1);
    splitter.push(bytes);
    expect(() => splitter.takeFrame()).toThrow(WireError);
  });
});

describe('a body that is wrong is a WireError', () => {
  test('cut anywhere, or with a byte too many', () => {
    // These take whatever is left as their last field.
    const open = new Set(['authentication-response', 'copy-data']);
    const closed = frontendMessage.filter((message) => !open.has(message.kind));
    fc.assert(
      fc.property(closed, fc.nat(), (message, at) => {
        const [frame] = framesOf(bytesOf(encodeFrontend, message)) as [Frame];
        const longer = Buffer.concat([frame.body, Buffer.alloc(1)]);
        expect(() => decodeFrontend({ type: frame.type, body: longer })).toThrow(WireError);
        if (frame.body.length === 0) return;
        const shorter = frame.body.subarray(0, at % frame.body.length);
        expect(() => decodeFrontend({ type: frame.type, body: shorter })).toThrow(WireError);
      }),
    );
  });

  test('random bytes of either direction and of the start-up', () => {
    const eitherway = (decode: () => unknown): void => {
      try {
        decode();
      } catch (error) {
        expect(error).toBeInstanceOf(WireError);
      }
    };
    fc.assert(
      fc.property(fc.nat(255), fc.uint8Array({ maxLength: 80 }), (type, array) => {
        const body = Buffer.from(array);
        eitherway(() => decodeFrontend({ type, body }));
        eitherway(() => decodeBackend({ type, body }));
        eitherway(() => decodeStartup(body));
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ['an unknown type', 0x21, '', 'unknown message type 33'],
    ['text that is not UTF-8', 0x51, 'ff00', 'invalid byte sequence'],
    ['a value with a length of -2', 0x42, '0000 0000 0001 fffffffe 0000', 'the length -2'],
    ['a Describe of neither', 0x44, '5400', `neither 'S' nor 'P'`],
  ])('%s', (_name, type, body, message) => {
    expect(() => decodeFrontend({ type, body: Buffer.from(body.replaceAll(' ', ''), 'hex') })).toThrow(message);
  });

  test('text with a zero character is not written', () => {
    expect(() => bytesOf(encodeFrontend, { kind: 'query', sql: 'a\0b' } as const)).toThrow(WireError);
  });

  test('65,535 parameters pass, one more does not', () => {
    const parse = (count: number) => ({
      kind: 'parse' as const,
      statement: '',
      sql: '',
      parameterTypes: Array.from({ length: count }, () => 23),
    });
    const most = parse(65_535);
    expect(framesOf(bytesOf(encodeFrontend, most)).map(decodeFrontend)).toEqual([most]);
    expect(() => bytesOf(encodeFrontend, parse(65_536))).toThrow('65536 items');
  });
});

describe('the writer', () => {
  test('writes rows field by field as the data-row message', () => {
    const unit = fc.constantFrom('grapheme' as const, 'binary' as const);
    const field = unit.chain((kind) => fc.string({ unit: kind, maxLength: 60 }));
    fc.assert(
      fc.property(fc.array(fc.option(field), { maxLength: 10 }), (texts) => {
        const writer = new MessageWriter();
        beginDataRow(writer, texts.length);
        for (const text of texts) {
          if (text === null) writer.value(null);
          else writer.textValue(text);
        }
        writer.end();
        const values = texts.map((text) => (text === null ? null : Buffer.from(text)));
        expect(writer.take()).toEqual(bytesOf(encodeBackend, { kind: 'data-row', values } as const));
      }),
    );
  });

  test('natural numbers as digits are their texts', () => {
    const numbers = [0, 9, 10, 99, 100, 12_345, 999_999_999, 1_000_000_000, 2 ** 31 - 1];
    const written = (write: (writer: MessageWriter, value: number) => void): Uint8Array => {
      const writer = new MessageWriter();
      for (const number of numbers) write(writer, number);
      return writer.take();
    };
    expect(written((writer, value) => writer.digitsValue(value))).toEqual(
      written((writer, value) => writer.textValue(String(value))),
    );
  });

  test('a copy of what was written does not change when more is written', () => {
    const writer = new MessageWriter();
    writer.bytes(Buffer.from('before'));
    writer.bytes(Buffer.from('copied'));
    const copy = writer.since(6);
    writer.take();
    writer.bytes(Buffer.from('overwritten'));
    expect(Buffer.from(copy).toString()).toBe('copied');
  });

  test('what was taken does not change when more is written', () => {
    for (const size of [10, 100_000]) {
      const writer = new MessageWriter();
      writer.bytes(Buffer.alloc(size, 'a'));
      const taken = writer.take();
      writer.bytes(Buffer.alloc(size, 'b'));
      expect(Buffer.from(taken).equals(Buffer.alloc(size, 'a'))).toBe(true);
    }
  });
});
