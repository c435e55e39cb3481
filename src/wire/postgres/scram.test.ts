import { describe, expect, test } from 'vitest';
import { WireError } from '../wire-error.ts';
import { scramChallenge, scramClientFinal, scramClientFirst, scramVerifier } from './index.ts';

/** RFC 7677, section 3: user `user`, password `pencil`. */
const example = {
  clientFirst: 'n,,n=user,r=rOprNGfwEbeRWgbNEkqO',
  serverNonce: '%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0',
  salt: Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64'),
  serverFirst: 'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096',
  clientFinal:
    'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
  serverFinal: 'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
};

test('the example of RFC 7677', () => {
  const verifier = scramVerifier('pencil', example.salt);
  const challenge = scramChallenge(Buffer.from(example.clientFirst), verifier, example.serverNonce);
  expect(Buffer.from(challenge.data).toString()).toBe(example.serverFirst);
  expect(Buffer.from(challenge.verify(Buffer.from(example.clientFinal)) ?? []).toString()).toBe(example.serverFinal);
});

describe('client and server', () => {
  const meet = (known: string, given: string): { isLetIn: boolean; isServerKnown: boolean } => {
    const challenge = scramChallenge(
      scramClientFirst('client'),
      scramVerifier(known, Buffer.alloc(16, 3), 5000),
      'server',
    );
    const final = scramClientFinal('client', given, challenge.data);
    const answer = challenge.verify(final.data);
    return { isLetIn: answer !== null, isServerKnown: answer !== null && final.verify(answer) };
  };

  test.each(['secret', '', 'pässwörd', 'a,b=c', '\u{1f511}'])('the right password: %s', (password) => {
    expect(meet(password, password)).toEqual({ isLetIn: true, isServerKnown: true });
  });

  test('the wrong password', () => expect(meet('secret', 'Secret').isLetIn).toBe(false));

  test('SASLprep: other spaces, invisible characters, composed letters', () => {
    expect(meet('a\u00a0b', 'a b').isLetIn).toBe(true);
    expect(meet('so\u00adft', 'soft').isLetIn).toBe(true);
    expect(meet('e\u0301', '\u00e9').isLetIn).toBe(true);
  });
});

describe('messages that are not SCRAM', () => {
  test.each(['', 'n,,r=abc', 'p=tls-unique,,n=,r=abc', 'n,,n=,r=', 'n,,n=,r=a b'])('first: %s', (text) => {
    expect(() => scramChallenge(Buffer.from(text), scramVerifier('a', Buffer.alloc(16)), 'server')).toThrow(WireError);
  });

  test.each([
    '',
    'c=biws,r=clientserver',
    'c=biws,r=clientserver,p=short',
    `c=biws,r=otherserver,p=${'A'.repeat(43)}=`,
    `c=eSws,r=clientserver,p=${'A'.repeat(43)}=`,
  ])('final: %s', (text) => {
    const challenge = scramChallenge(scramClientFirst('client'), scramVerifier('a', Buffer.alloc(16)), 'server');
    expect(() => challenge.verify(Buffer.from(text))).toThrow(WireError);
  });

  test.each(['', 'r=other,s=AAAA,i=4096', 'r=clientserver,s=AAAA,i=0', 'r=clientserver,s=AAAA,i=99999999'])(
    'of the server: %s',
    (text) => expect(() => scramClientFinal('client', 'a', Buffer.from(text))).toThrow(WireError),
  );
});
