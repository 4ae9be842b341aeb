using System.Text.Json;
using Voron;

namespace SecondaryIndex;

/// <summary>
/// Orders, and two indexes: by customer and id, and by total, the largest first. An index key ends with the id, so that it is unique; index
/// values are empty. All three trees change in one transaction.
/// </summary>
internal sealed class OrderStore(StorageEnvironment environment)
{
    public const string OrdersName = "orders";
    public const string ByCustomerName = "orders-by-customer";
    public const string ByTotalName = "orders-by-total";

    /// <summary>Names may have any length here; keys may not. 200 characters take at most 600 bytes, and a zero twice that of one byte.</summary>
    private const int KeyBytes = 900;

    public void Put(Order order) => environment.Write(order, static (writing, order) =>
    {
        var key = IdKey(stackalloc byte[KeyBytes], order.Id);
        if (writing.OpenTree(OrdersName).Exchange(key, JsonSerializer.SerializeToUtf8Bytes(order)) is { } old)
            RemoveFromIndexes(writing, old);
        writing.OpenTree(ByCustomerName).Put(CustomerKey(stackalloc byte[KeyBytes], order), default);
        writing.OpenTree(ByTotalName).Put(TotalKey(stackalloc byte[KeyBytes], order), default);
    });

    public bool Remove(long id) => environment.Write(id, static (writing, id) =>
    {
        if (writing.OpenTree(OrdersName).Remove(IdKey(stackalloc byte[KeyBytes], id)) is not { } old)
            return false;
        RemoveFromIndexes(writing, old);
        return true;
    });

    public List<Order> OfCustomer(string customer)
    {
        var found = new List<Order>();
        using var reading = environment.BeginRead();
        var orders = reading.OpenTree(OrdersName);
        var prefix = new KeyWriter(stackalloc byte[KeyBytes]);
        prefix.Add(customer);
        foreach (var entry in reading.OpenTree(ByCustomerName).Prefix(prefix.Written))
            found.Add(Get(orders, entry.Key[prefix.WrittenCount..]));
        return found;
    }

    public List<Order> Largest(int count)
    {
        var found = new List<Order>();
        using var reading = environment.BeginRead();
        var orders = reading.OpenTree(OrdersName);
        foreach (var entry in reading.OpenTree(ByTotalName).GetEntries().Take(count))
        {
            var key = new KeyReader(entry.Key);
            key.ReadDecimalDescending();
            found.Add(Get(orders, key.Remaining));
        }

        return found;
    }

    /// <summary>Returns the number of orders.</summary>
    /// <exception cref="InvalidDataException">An index does not have exactly the orders.</exception>
    public long Check()
    {
        using var reading = environment.BeginRead();
        var orders = reading.OpenTree(OrdersName);
        var (byCustomer, byTotal) = (reading.OpenTree(ByCustomerName), reading.OpenTree(ByTotalName));
        var buffer = (stackalloc byte[KeyBytes]);
        foreach (var entry in orders.GetEntries())
        {
            var order = JsonSerializer.Deserialize<Order>(entry.Value)!;
            if (!byCustomer.Contains(CustomerKey(buffer, order)) || !byTotal.Contains(TotalKey(buffer, order)))
                throw new InvalidDataException($"Order {order.Id} is missing in an index.");
        }

        if (byCustomer.Count != orders.Count || byTotal.Count != orders.Count)
            throw new InvalidDataException("An index has entries of orders that do not exist.");
        return orders.Count;
    }

    private static void RemoveFromIndexes(WriteTransaction writing, byte[] json)
    {
        var order = JsonSerializer.Deserialize<Order>(json)!;
        writing.OpenTree(ByCustomerName).Delete(CustomerKey(stackalloc byte[KeyBytes], order));
        writing.OpenTree(ByTotalName).Delete(TotalKey(stackalloc byte[KeyBytes], order));
    }

    private static Order Get(Tree orders, ReadOnlySpan<byte> id) =>
        orders.TryGet(id, out var json)
            ? JsonSerializer.Deserialize<Order>(json)!
            : throw new InvalidDataException("The index has an order that does not exist.");

    private static ReadOnlySpan<byte> IdKey(Span<byte> buffer, long id)
    {
        var key = new KeyWriter(buffer);
        key.Add(id);
        return key.Written;
    }

    private static ReadOnlySpan<byte> CustomerKey(Span<byte> buffer, Order order)
    {
        var key = new KeyWriter(buffer);
        key.Add(order.Customer);
        key.Add(order.Id);
        return key.Written;
    }

    private static ReadOnlySpan<byte> TotalKey(Span<byte> buffer, Order order)
    {
        var key = new KeyWriter(buffer);
        key.AddDescending(order.Total);
        key.Add(order.Id);
        return key.Written;
    }
}
