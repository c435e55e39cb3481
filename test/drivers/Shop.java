import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The shop in JDBC: `java Shop URL TABLES...`. Prints one line a step; the test compares them. */
final class Shop {
  private static final Timestamp ADDED = Timestamp.valueOf("2024-02-29 12:34:56.789");

  public static void main(String[] arguments) throws Exception {
    String url = arguments[0];
    try (Connection connection = DriverManager.getConnection(url);
        Connection other = DriverManager.getConnection(url)) {
      tables(connection, Arrays.copyOfRange(arguments, 1, arguments.length));
      insert(connection);
      select(connection);
      prepared(connection);
      updateAndDelete(connection);
      commitAndRollback(connection);
      isolation(connection, other);
      savepoint(connection);
      uniqueViolation(connection);
      lockWait(connection, other);
    }
  }

  private static void tables(Connection connection, String[] statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements) statement.execute(sql);
    }
    List<String> names = new ArrayList<>();
    try (ResultSet tables = connection.getMetaData().getTables(connection.getCatalog(), null, "%", new String[] {"TABLE"})) {
      while (tables.next()) names.add(tables.getString("TABLE_NAME"));
    }
    System.out.println("tables: " + names);
  }

  private static void insert(Connection connection) throws SQLException {
    List<Integer> ids = new ArrayList<>();
    for (String name : List.of("ann", "bob")) {
      String sql = "insert into author (name) values (?)";
      try (PreparedStatement insert = connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS)) {
        insert.setString(1, name);
        insert.executeUpdate();
        try (ResultSet keys = insert.getGeneratedKeys()) {
          keys.next();
          ids.add(keys.getInt(1));
        }
      }
    }
    String sql = "insert into book (author_id, title, price, is_sold, added) values (?, ?, ?, ?, ?)";
    try (PreparedStatement insert = connection.prepareStatement(sql)) {
      for (String title : List.of("zoë", "plain", "third")) {
        insert.setInt(1, 1);
        insert.setString(2, title);
        insert.setBigDecimal(3, new BigDecimal("12.50"));
        insert.setBoolean(4, true);
        insert.setTimestamp(5, ADDED);
        insert.addBatch();
      }
      System.out.println("insert: " + ids + ", a batch of " + insert.executeBatch().length);
    }
  }

  private static void select(Connection connection) throws SQLException {
    String sql =
        "select b.title, b.price, b.is_sold, b.added, b.meta from book b join author a on a.id = b.author_id"
            + " where a.name = ? and b.price = ? and b.is_sold = ? and b.added = ? and b.id > ? order by b.title desc limit 2";
    try (PreparedStatement select = connection.prepareStatement(sql)) {
      select.setString(1, "ann");
      select.setBigDecimal(2, new BigDecimal("12.5"));
      select.setBoolean(3, true);
      select.setTimestamp(4, ADDED);
      select.setLong(5, 0);
      List<String> rows = new ArrayList<>();
      try (ResultSet found = select.executeQuery()) {
        while (found.next()) {
          boolean isSame = found.getTimestamp(4).equals(ADDED);
          rows.add(found.getString(1) + " " + found.getBigDecimal(2) + " " + found.getBoolean(3) + " " + isSame + " " + found.getString(5));
        }
      }
      System.out.println("select: " + rows);
    }
  }

  /** pgjdbc gives a statement a name, and asks for binary results, from its fifth use. */
  private static void prepared(Connection connection) throws SQLException {
    List<String> prices = new ArrayList<>();
    try (PreparedStatement select = connection.prepareStatement("select id, price, is_sold, added from book where title = ?")) {
      for (int i = 0; i < 8; i++) {
        select.setString(1, i % 2 == 0 ? "plain" : "none");
        try (ResultSet found = select.executeQuery()) {
          if (!found.next()) prices.add("-");
          else prices.add(found.getInt(1) + " " + found.getBigDecimal(2) + " " + found.getBoolean(3) + " " + found.getTimestamp(4).equals(ADDED));
        }
      }
    }
    System.out.println("prepared: " + prices);
  }

  private static void updateAndDelete(Connection connection) throws SQLException {
    int updated = setPrice(connection, "plain", "3.00") + 10 * setPrice(connection, "none", "3.00");
    try (Statement statement = connection.createStatement()) {
      int removed = statement.executeUpdate("delete from book where title = 'third'");
      System.out.println("update: " + updated + ", delete: " + removed);
    }
  }

  private static void commitAndRollback(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    setPrice(connection, "plain", "4.00");
    connection.commit();
    setPrice(connection, "plain", "5.00");
    connection.rollback();
    connection.setAutoCommit(true);
    System.out.println("commit, rollback: " + price(connection, "plain"));
  }

  private static void isolation(Connection connection, Connection other) throws SQLException {
    int before = connection.getTransactionIsolation();
    List<String> seen = new ArrayList<>();
    for (int level : List.of(Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ)) {
      connection.setTransactionIsolation(level);
      connection.setAutoCommit(false);
      setPrice(other, "plain", "1.00");
      String first = price(connection, "plain");
      setPrice(other, "plain", "2.00");
      seen.add(first + " " + price(connection, "plain"));
      connection.commit();
      connection.setAutoCommit(true);
    }
    connection.setTransactionIsolation(before);
    System.out.println("isolation: " + seen);
  }

  private static void savepoint(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    setPrice(connection, "plain", "6.00");
    Savepoint point = connection.setSavepoint();
    setPrice(connection, "plain", "7.00");
    connection.rollback(point);
    connection.commit();
    connection.setAutoCommit(true);
    System.out.println("savepoint: " + price(connection, "plain"));
  }

  private static void uniqueViolation(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.executeUpdate("insert into author (name) values ('ann')");
    } catch (SQLException error) {
      System.out.println("unique violation: " + error.getSQLState() + " " + error.getErrorCode());
    }
  }

  private static void lockWait(Connection connection, Connection other) throws Exception {
    connection.setAutoCommit(false);
    setPrice(connection, "plain", "8.00");
    CompletableFuture<String> waiting =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return String.valueOf(setPrice(other, "plain", "9.00"));
              } catch (SQLException error) {
                return error.getSQLState();
              }
            });
    System.out.println("lock wait");
    // The test says when it waits.
    System.in.read();
    boolean isDone = waiting.isDone();
    connection.commit();
    System.out.println("waited: " + !isDone + ", then " + waiting.get());
  }

  private static int setPrice(Connection connection, String title, String price) throws SQLException {
    try (PreparedStatement update = connection.prepareStatement("update book set price = ? where title = ?")) {
      update.setBigDecimal(1, new BigDecimal(price));
      update.setString(2, title);
      return update.executeUpdate();
    }
  }

  private static String price(Connection connection, String title) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement("select price from book where title = ?")) {
      select.setString(1, title);
      try (ResultSet found = select.executeQuery()) {
        found.next();
        return found.getString(1);
      }
    }
  }
}
