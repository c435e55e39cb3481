/** A deposit that reads the balance and writes the sum: `moirai analyze examples/analyze/deposit/application.ts` */
import { application, argument, column, expression, statement, transaction } from 'moirai/analyze';

export default application({
  schema: 'CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL)',
  units: {
    'POST /deposits': [
      transaction('deposit', null, [
        statement('SELECT balance FROM accounts WHERE id = $1', [argument('id')], 'account'),
        statement('UPDATE accounts SET balance = $2 WHERE id = $1', [
          argument('id'),
          expression('+', column('account', 'balance'), argument('amount')),
        ]),
      ]),
    ],
    'GET /accounts/:id': [statement('SELECT balance FROM accounts WHERE id = $1', [argument('id')])],
  },
});
