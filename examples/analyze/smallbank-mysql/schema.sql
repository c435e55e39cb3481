CREATE TABLE accounts (
  custid BIGINT PRIMARY KEY,
  name VARCHAR(64) NOT NULL UNIQUE
);
CREATE TABLE savings (
  custid BIGINT PRIMARY KEY,
  bal DECIMAL(12, 2) NOT NULL,
  FOREIGN KEY (custid) REFERENCES accounts (custid)
);
CREATE TABLE checking (
  custid BIGINT PRIMARY KEY,
  bal DECIMAL(12, 2) NOT NULL,
  FOREIGN KEY (custid) REFERENCES accounts (custid)
);
