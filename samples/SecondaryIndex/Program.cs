// Orders with two indexes, from the command line:
//
//   put ID CUSTOMER TOTAL    sets an order
//   remove ID                removes it
//   of CUSTOMER              the orders of a customer
//   top COUNT                the largest orders
//   check                    compares the indexes with the orders
//
// The store is the directory "orders-data", or the value of the variable ORDERS_DIRECTORY.
using System.Globalization;
using SecondaryIndex;
using Voron;

var directory = Environment.GetEnvironmentVariable("ORDERS_DIRECTORY") ?? "orders-data";
var options = new StorageOptions { Trees = { OrderStore.OrdersName, OrderStore.ByCustomerName, OrderStore.ByTotalName } };
using var environment = StorageEnvironment.Open(directory, options);
var store = new OrderStore(environment);

switch (args)
{
    case ["put", var id, var customer, var total]:
        store.Put(new Order(Number(id), customer, decimal.Parse(total, CultureInfo.InvariantCulture)));
        return 0;
    case ["remove", var id]:
        return store.Remove(Number(id)) ? 0 : Fail($"There is no order {id}.");
    case ["of", var customer]:
        Print(store.OfCustomer(customer));
        return 0;
    case ["top", var count]:
        Print(store.Largest(int.Parse(count, CultureInfo.InvariantCulture)));
        return 0;
    case ["check"]:
        Console.WriteLine($"{store.Check()} orders");
        return 0;
    default:
        return Fail("put ID CUSTOMER TOTAL | remove ID | of CUSTOMER | top COUNT | check");
}

static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);

static int Fail(string message)
{
    Console.Error.WriteLine(message);
    return 1;
}

static void Print(IEnumerable<Order> orders)
{
    foreach (var order in orders)
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{order.Id} {order.Customer} {order.Total}"));
}
