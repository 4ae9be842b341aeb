using System.Globalization;
using System.Text;

namespace Voron.Torture.Model;

/// <summary>Records the operations of a run, to report when it fails those that concerned the key and the last ones.</summary>
internal sealed class ModelHistory
{
    private const int Shown = 30;

    private readonly List<Step> _steps = [];

    /// <summary>The number of operations of the public interface that were run.</summary>
    public int Operations { get; private set; }

    /// <summary>Records and counts an operation.</summary>
    public void Add(string what, string? tree = null, byte[]? key = null, long length = -1)
    {
        Operations++;
        Note(what, tree, key, length);
    }

    /// <summary>Records an event that is not an operation: the beginning of a transaction, or the outcome of an operation.</summary>
    public void Note(string what, string? tree = null, byte[]? key = null, long length = -1) =>
        _steps.Add(new Step(_steps.Count + 1, what, tree, key, length));

    public string Describe(byte[]? key)
    {
        var chosen = new SortedDictionary<int, Step>();
        foreach (var step in _steps.TakeLast(Shown))
            chosen[step.Number] = step;
        foreach (var step in _steps.Where(step => step.Key == null).TakeLast(Shown))
            chosen[step.Number] = step;
        if (key != null)
        {
            foreach (var step in _steps.Where(step => step.Key != null && step.Key.AsSpan().SequenceEqual(key)).TakeLast(Shown))
                chosen[step.Number] = step;
        }

        var text = new StringBuilder();
        foreach (var (number, step) in chosen)
        {
            text.Append(CultureInfo.InvariantCulture, $"{number,7} {step.What}");
            if (step.Tree != null)
                text.Append(CultureInfo.InvariantCulture, $" '{(step.Tree.Length < 30 ? step.Tree : step.Tree[..5] + "..")}'");
            if (step.Key != null)
                text.Append(CultureInfo.InvariantCulture, $" {Name(step.Key)}");
            if (step.Length >= 0)
                text.Append(CultureInfo.InvariantCulture, $" {step.Length}");
            text.AppendLine();
        }

        return text.ToString();
    }

    public static string Name(byte[] key) => key.Length <= 20 ? Convert.ToHexString(key) : $"{Convert.ToHexString(key.AsSpan(0, 16))}..({key.Length})";

    private readonly record struct Step(int Number, string What, string? Tree, byte[]? Key, long Length);
}
