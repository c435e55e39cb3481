import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  capabilities,
  decodeHandshake,
  encodeHandshake,
  encodeHandshakeResponse,
  encodePacket,
  packetHeaderBytes,
} from '../wire/mysql/index.ts';
import { handshake, handshakeResponse } from '../wire/mysql/arbitraries.test-support.ts';
import { MysqlTap } from './proxy-mysql.ts';
import { Recording } from './recording.ts';

const hidden = capabilities.compress | capabilities.optionalResultsetMetadata | capabilities.queryAttributes;

/** Clients say what they can, not what the greeting has: the server would read commands as if both had it. */
test('what the proxy could not read is in neither greeting nor answer, however the answer is cut', () => {
  fc.assert(
    fc.property(handshake, handshakeResponse, fc.nat(), (greeting, response, cut) => {
      const [toClient, toServer]: [Uint8Array[], Uint8Array[]] = [[], []];
      const tap = new MysqlTap({
        recording: new Recording({ write: () => {}, now: () => 0, warn: () => {} }),
        place: 'here',
        toClient: (bytes) => toClient.push(bytes),
        toServer: (bytes) => toServer.push(bytes),
      });
      tap.fromServer(
        encodePacket(encodeHandshake({ ...greeting, capabilities: greeting.capabilities | hidden }), 0).bytes,
      );
      const said = (response.capabilities | hidden) >>> 0;
      const answer = Buffer.from(encodeHandshakeResponse({ ...response, capabilities: said }));
      const { bytes } = encodePacket(answer, 1);
      const at = cut % bytes.length;
      tap.fromClient(bytes.subarray(0, at));
      tap.fromClient(bytes.subarray(at));
      const [greeted, answered] = [toClient, toServer].map((parts) => Buffer.concat(parts).subarray(packetHeaderBytes));
      expect(decodeHandshake(greeted ?? answer).capabilities & hidden).toBe(0);
      // Nothing else of the answer changes.
      answer.writeUInt32LE((said & ~hidden) >>> 0, 0);
      expect(answered).toEqual(answer);
    }),
  );
});
