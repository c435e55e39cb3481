import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WireError } from '../wire-error.ts';
import { encodePacket, PacketReader, type Packet } from './packet.ts';

const pieceBytesMax = 0xff_ffff;

function readAll(chunks: readonly Uint8Array[], packetBytesMax = 1 << 26): Packet[] {
  const reader = new PacketReader({ packetBytesMax });
  const packets: Packet[] = [];
  for (const chunk of chunks) {
    reader.push(chunk);
    for (let packet = reader.next(); packet !== undefined; packet = reader.next()) packets.push(packet);
  }
  return packets;
}

const text = ({ payload }: Packet): string => Buffer.from(payload).toString();

test('a stream gives the same packets wherever it is cut', () => {
  const payloads = ['select 1', '', 'x'.repeat(300)];
  const stream = Buffer.concat(payloads.map((payload, i) => encodePacket(Buffer.from(payload), i).bytes));
  for (let cut = 0; cut <= stream.length; cut++)
    expect(readAll([stream.subarray(0, cut), stream.subarray(cut)]).map(text)).toEqual(payloads);
  expect(readAll([...stream].map((byte) => Uint8Array.of(byte))).map(text)).toEqual(payloads);
});

test('any payloads in any pieces', () => {
  const payload = fc.uint8Array({ maxLength: 50 });
  const cuts = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 });
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 10 }), cuts, (payloads, sizes) => {
      const stream = Buffer.concat(payloads.map((each) => encodePacket(each, 0).bytes));
      const chunks: Uint8Array[] = [];
      for (let start = 0, i = 0; start < stream.length; i++) {
        const end = start + (sizes[i % sizes.length] ?? 1);
        chunks.push(stream.subarray(start, end));
        start = end;
      }
      expect(readAll(chunks).map(({ payload: read }) => [...read])).toEqual(payloads.map((each) => [...each]));
    }),
  );
});

describe('large packets', () => {
  test.each([pieceBytesMax - 1, pieceBytesMax, pieceBytesMax + 1, 2 * pieceBytesMax])('%i bytes', (length) => {
    const payload = Buffer.alloc(length, 7);
    const { bytes, nextSequence } = encodePacket(payload, 255);
    const pieces = Math.floor(length / pieceBytesMax) + 1;
    expect(bytes).toHaveLength(length + 4 * pieces);
    expect(nextSequence).toBe((255 + pieces) & 0xff);
    const [packet, ...more] = readAll([bytes]);
    expect(more).toEqual([]);
    expect(packet?.firstSequence).toBe(255);
    expect(packet?.sequence).toBe((255 + pieces - 1) & 0xff);
    expect(payload.equals(packet?.payload ?? Buffer.of())).toBe(true);
  });

  test('are refused as soon as their header says so', () => {
    const reader = new PacketReader({ packetBytesMax: 100 });
    reader.push(encodePacket(new Uint8Array(100), 3).bytes);
    expect(reader.next()?.payload).toHaveLength(100);
    reader.push(Uint8Array.of(101, 0, 0, 9));
    expect(() => reader.next()).toThrow(WireError);
    expect(reader.nextSequence).toBe(10);
  });

  test('count all their pieces', () => {
    const { bytes } = encodePacket(Buffer.alloc(pieceBytesMax + 10), 0);
    expect(() => readAll([bytes], pieceBytesMax + 9)).toThrow('the limit is');
    expect(readAll([bytes], pieceBytesMax + 10)).toHaveLength(1);
  });

  test('have pieces that are numbered in order', () => {
    const first = encodePacket(Buffer.alloc(pieceBytesMax), 4).bytes.slice();
    first[pieceBytesMax + 4 + 3] = 4;
    expect(() => readAll([first])).toThrow('packet 4 came instead of 5');
  });
});

test('what is not complete waits', () => {
  const reader = new PacketReader();
  expect(reader.next()).toBeUndefined();
  reader.push(Uint8Array.of(2, 0, 0, 0, 65));
  expect(reader.next()).toBeUndefined();
  expect(reader.bufferedBytes).toBe(1);
  reader.push(Uint8Array.of(66));
  expect(reader.next()).toEqual({ sequence: 0, firstSequence: 0, payload: Buffer.from('AB') });
  expect(reader.bufferedBytes).toBe(0);
});
