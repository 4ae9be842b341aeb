using Voron.Tables;
using Voron.Tests.Faults;

namespace Voron.Tests.Tables;

/// <summary>A table whose rows expire: <see cref="Item.Size"/> minutes after a moment, or never if that is 0.</summary>
internal static class ExpiryKit
{
    public static readonly DateTimeOffset Start = new(2030, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>The definition without times.</summary>
    public static readonly TableDefinition<string, Item> Timeless = TableKit.Plain(1)
        .Index("section", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section))
        .UniqueIndex("source", 1, static (in Item item, ref IndexKeys keys) =>
        {
            if (item.Source.Length > 1)
                keys.Add(item.Source);
        });

    public static readonly TableDefinition<string, Item> Items = Timeless.Expire(TimeOf);

    /// <summary>The same, whose primary keys are row ids: the number in the text of the item.</summary>
    public static readonly TableDefinition<long, Item> Numbered = TableDefinition
        .CreateWithRowIds("numbered", 1, new ItemCodec(), static (Item item) => int.Parse(item.Id, System.Globalization.CultureInfo.InvariantCulture))
        .Index("section", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section))
        .Expire(TimeOf);

    public static DateTimeOffset? TimeOf(Item item) => item.Size == 0 ? null : Start.AddMinutes(item.Size);

    public static StorageOptions Options(TimeProvider clock)
    {
        var options = FaultTestKit.Options();
        options.TimeProvider = clock;
        return options;
    }

    /// <summary>The ids of all rows that a query of the sections returns.</summary>
    public static List<string> Sections(this Table<string, Item> table, bool isBackward = false)
    {
        var query = table.From("section");
        return TableKit.Ids(isBackward ? query.Backward() : query);
    }

    public static List<string> Read(this StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        return TableKit.Ids(reading.OpenTable(Items).Scan());
    }
}

/// <summary>A clock that a test sets.</summary>
internal sealed class SetClock : TimeProvider
{
    public DateTimeOffset Now { get; set; } = ExpiryKit.Start;

    public int Readings { get; private set; }

    public override DateTimeOffset GetUtcNow()
    {
        Readings++;
        return Now;
    }

    public void PassMinutes(double minutes) => Now += TimeSpan.FromMinutes(minutes);
}
