// Measurements of sensors, from the command line:
//
//   import SENSORS DAYS        adds a measurement a minute for each sensor, beginning with 2026-01-01
//   average SENSOR DATE        the average of a day, from the hourly averages
//   day SENSOR DATE            the hourly averages of a day
//   retain DATE                removes the measurements before a day, and keeps the averages
//   size                       the number of measurements, and the size of the files
//
// The store is the directory "series-data", or the value of the variable SERIES_DIRECTORY.
using System.Globalization;
using TimeSeries;
using Voron;

var directory = Environment.GetEnvironmentVariable("SERIES_DIRECTORY") ?? "series-data";
using var environment = StorageEnvironment.Open(directory, new StorageOptions { Trees = { "measurements", "hours" } });
var store = new SeriesStore(environment);
var start = new DateTime(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc);

switch (args)
{
    case ["import", var sensors, var days]:
        // A day of all sensors is one transaction: one write to the device.
        for (var day = 0; day < Number(days); day++)
            store.Import(Number(sensors), start.AddDays(day));
        return 0;
    case ["average", var sensor, var date]:
        Console.WriteLine(store.Average(sensor, Date(date)).ToString("F3", CultureInfo.InvariantCulture));
        return 0;
    case ["day", var sensor, var date]:
        foreach (var (hour, average) in store.Hours(sensor, Date(date)))
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{hour:HH:mm} {average:F3}"));
        return 0;
    case ["retain", var date]:
        Console.WriteLine($"removed: {store.DeleteBefore(Date(date))}");
        Console.WriteLine($"returned to the file system: {environment.ReclaimSpace()} bytes");
        return 0;
    case ["size"]:
        var statistics = environment.GetStatistics();
        Console.WriteLine($"measurements: {store.Count}, data file: {statistics.DataFileBytes} bytes");
        return 0;
    default:
        Console.Error.WriteLine("import SENSORS DAYS | average SENSOR DATE | day SENSOR DATE | retain DATE | size");
        return 1;
}

static int Number(string text) => int.Parse(text, CultureInfo.InvariantCulture);

static DateTime Date(string text) => DateTime.ParseExact(
    text, "yyyy-MM-dd", CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal);
