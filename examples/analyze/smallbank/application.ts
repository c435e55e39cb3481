/**
 * SmallBank: five transactions of a bank, at the database's default level.
 * `moirai analyze examples/analyze/smallbank/application.ts`
 */
import { application, argument, branch, column, expression, statement, transaction } from 'moirai/analyze';

export default application({
  schema: `
    CREATE TABLE accounts (custid bigint PRIMARY KEY, name varchar(64) NOT NULL UNIQUE);
    CREATE TABLE savings (custid bigint PRIMARY KEY REFERENCES accounts, bal float NOT NULL);
    CREATE TABLE checking (custid bigint PRIMARY KEY REFERENCES accounts, bal float NOT NULL);`,
  units: {
    amalgamate: [
      transaction('amalgamate', null, [
        statement('SELECT custid FROM accounts WHERE name = $1', [argument('from')], 'sender'),
        statement('SELECT custid FROM accounts WHERE name = $1', [argument('to')], 'receiver'),
        statement('SELECT bal FROM savings WHERE custid = $1', [column('sender', 'custid')], 'saved'),
        statement('SELECT bal FROM checking WHERE custid = $1', [column('sender', 'custid')], 'checked'),
        statement('UPDATE savings SET bal = 0 WHERE custid = $1', [column('sender', 'custid')]),
        statement('UPDATE checking SET bal = 0 WHERE custid = $1', [column('sender', 'custid')]),
        statement('UPDATE checking SET bal = bal + $2 WHERE custid = $1', [
          column('receiver', 'custid'),
          expression('+', column('saved', 'bal'), column('checked', 'bal')),
        ]),
      ]),
    ],
    balance: [
      transaction('balance', null, [
        statement('SELECT custid FROM accounts WHERE name = $1', [argument('name')], 'owner'),
        statement('SELECT bal FROM savings WHERE custid = $1', [column('owner', 'custid')], 'saved'),
        statement('SELECT bal FROM checking WHERE custid = $1', [column('owner', 'custid')], 'checked'),
      ]),
    ],
    depositChecking: [
      transaction('depositChecking', null, [
        statement('SELECT custid FROM accounts WHERE name = $1', [argument('name')], 'owner'),
        statement('UPDATE checking SET bal = bal + $2 WHERE custid = $1', [
          column('owner', 'custid'),
          argument('amount'),
        ]),
      ]),
    ],
    transactSavings: [
      transaction('transactSavings', null, [
        statement('SELECT custid FROM accounts WHERE name = $1', [argument('name')], 'owner'),
        statement('SELECT bal FROM savings WHERE custid = $1', [column('owner', 'custid')], 'saved'),
        branch(expression('>=', column('saved', 'bal'), argument('amount')), [
          statement('UPDATE savings SET bal = $2 WHERE custid = $1', [
            column('owner', 'custid'),
            expression('-', column('saved', 'bal'), argument('amount')),
          ]),
        ]),
      ]),
    ],
    writeCheck: [
      transaction('writeCheck', null, [
        statement('SELECT custid FROM accounts WHERE name = $1', [argument('name')], 'owner'),
        statement('SELECT bal FROM savings WHERE custid = $1', [column('owner', 'custid')], 'saved'),
        statement('SELECT bal FROM checking WHERE custid = $1', [column('owner', 'custid')], 'checked'),
        branch(
          expression('>=', expression('+', column('saved', 'bal'), column('checked', 'bal')), argument('amount')),
          [
            statement('UPDATE checking SET bal = bal - $2 WHERE custid = $1', [
              column('owner', 'custid'),
              argument('amount'),
            ]),
          ],
          [
            statement('UPDATE checking SET bal = bal - $2 - 1 WHERE custid = $1', [
              column('owner', 'custid'),
              argument('amount'),
            ]),
          ],
        ),
      ]),
    ],
  },
});
