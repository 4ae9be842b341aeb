using System.Buffers.Binary;
using Voron;

namespace TimeSeries;

/// <summary>
/// Two trees, both with the sensor and the time as their keys: <c>measurements</c>, and <c>hours</c> with the sum and the number of the
/// measurements of each hour. The transaction that adds measurements also brings their hours up to date.
/// </summary>
internal sealed class SeriesStore(StorageEnvironment environment)
{
    private const int KeyBytes = 128;
    private const int HourBytes = sizeof(double) + sizeof(long);

    public long Count
    {
        get
        {
            using var reading = environment.BeginRead();
            return reading.OpenTree("measurements").Count;
        }
    }

    /// <summary>Adds a measurement a minute of a day.</summary>
    public void Import(int sensors, DateTime day) => environment.Write((sensors, day), static (writing, import) =>
    {
        for (var sensor = 0; sensor < import.sensors; sensor++)
        {
            for (var minute = 0; minute < 24 * 60; minute++)
                Add(writing, $"sensor-{sensor}", import.day.AddMinutes(minute), 20 + sensor + Math.Sin(minute / 1440.0 * Math.Tau));
        }
    });

    public double Average(string sensor, DateTime day)
    {
        var (sum, count) = (0.0, 0L);
        using var reading = environment.BeginRead();
        foreach (var entry in reading.OpenTree("hours").Range(Day(stackalloc byte[2 * KeyBytes], sensor, day)))
        {
            var hour = Hour.Read(entry.Value);
            sum += hour.Sum;
            count += hour.Count;
        }

        return sum / count;
    }

    public List<(DateTime Hour, double Average)> Hours(string sensor, DateTime day)
    {
        var hours = new List<(DateTime, double)>();
        using var reading = environment.BeginRead();
        foreach (var entry in reading.OpenTree("hours").Range(Day(stackalloc byte[2 * KeyBytes], sensor, day)))
        {
            var key = new KeyReader(entry.Key);
            key.SkipString();
            var hour = Hour.Read(entry.Value);
            hours.Add((key.ReadDateTime(DateTimeKind.Utc), hour.Sum / hour.Count));
        }

        return hours;
    }

    /// <summary>Removes old measurements, one sensor a transaction, so that no transaction is long.</summary>
    public long DeleteBefore(DateTime time)
    {
        var deleted = 0L;
        foreach (var sensor in Sensors())
        {
            deleted += environment.Write((sensor, time), static (writing, old) =>
            {
                var prefix = new KeyWriter(stackalloc byte[KeyBytes]);
                prefix.Add(old.sensor);
                var range = KeyRange.Prefix(prefix.Written).Before(Key(stackalloc byte[KeyBytes], old.sensor, old.time));
                return writing.OpenTree("measurements").DeleteRange(range);
            });
        }

        return deleted;
    }

    // Goes from the first hour of a sensor to the first one of the next, without those between.
    private List<string> Sensors()
    {
        var sensors = new List<string>();
        using var reading = environment.BeginRead();
        var hours = reading.OpenTree("hours");
        var range = KeyRange.All;
        while (hours.Range(range).TryGetFirst(out var entry))
        {
            var key = new KeyReader(entry.Key);
            sensors.Add(key.ReadString());
            range = KeyRange.AfterPrefix(entry.Key[..key.Offset].ToArray());
        }

        return sensors;
    }

    private static void Add(WriteTransaction writing, string sensor, DateTime time, double value)
    {
        var bytes = (stackalloc byte[sizeof(double)]);
        BinaryPrimitives.WriteDoubleLittleEndian(bytes, value);
        writing.OpenTree("measurements").Put(Key(stackalloc byte[KeyBytes], sensor, time), bytes);

        var hours = writing.OpenTree("hours");
        var hourKey = Key(stackalloc byte[KeyBytes], sensor, time.Date.AddHours(time.Hour));
        var hour = hours.TryGet(hourKey, out var old) ? Hour.Read(old) : default;
        (hour with { Sum = hour.Sum + value, Count = hour.Count + 1 }).Write(hours.Reserve(hourKey, HourBytes));
    }

    private static KeyRange Day(Span<byte> buffer, string sensor, DateTime day) =>
        KeyRange.From(Key(buffer[..KeyBytes], sensor, day)).Before(Key(buffer[KeyBytes..], sensor, day.AddDays(1)));

    private static ReadOnlySpan<byte> Key(Span<byte> buffer, string sensor, DateTime time)
    {
        var key = new KeyWriter(buffer);
        key.Add(sensor);
        key.Add(time);
        return key.Written;
    }

    private readonly record struct Hour(double Sum, long Count)
    {
        public static Hour Read(ReadOnlySpan<byte> bytes) =>
            new(BinaryPrimitives.ReadDoubleLittleEndian(bytes), BinaryPrimitives.ReadInt64LittleEndian(bytes[sizeof(double)..]));

        public void Write(Span<byte> bytes)
        {
            BinaryPrimitives.WriteDoubleLittleEndian(bytes, Sum);
            BinaryPrimitives.WriteInt64LittleEndian(bytes[sizeof(double)..], Count);
        }
    }
}
