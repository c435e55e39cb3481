CREATE TABLE accounts (
  custid bigint PRIMARY KEY,
  name varchar(64) NOT NULL UNIQUE
);
CREATE TABLE savings (
  custid bigint PRIMARY KEY REFERENCES accounts,
  bal float NOT NULL
);
CREATE TABLE checking (
  custid bigint PRIMARY KEY REFERENCES accounts,
  bal float NOT NULL
);
